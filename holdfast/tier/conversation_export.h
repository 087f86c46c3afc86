// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// From a disk tier into a conversation's file. Threads: any; calls block.

#pragma once

#include <cstdint>
#include <functional>

#include "holdfast/base/status.h"
#include "holdfast/tier/conversation_writer.h"
#include "holdfast/tier/disk_tier.h"

namespace holdfast {

/// Bytes of images done, bytes in all.
using ConversationProgress = std::function<void(Bytes done, Bytes total)>;

struct ExportedConversation {
  Position tokens;
  int64_t images = 0;
  Bytes image_bytes; // as they lie in the tier
  Bytes file_bytes;
};

/// Asked after an image was copied: throws kCorrupt where it was not.
void require_whole(bool intact);

/// The record, its text and every image that the tier has of it, so that any
/// length that is usable there is usable from the file; but of a last node that
/// goes on behind the record no image and no further token, for those are
/// another text's (a node with marks, which cannot be cut here, goes whole). Of
/// one version, whoever replaces it meanwhile. kNotFound: no such record, or a
/// part of it was evicted meanwhile; kCorrupt, kIo, kOutOfBudget of the file's
/// device. Then the path is as it was.
Result<ExportedConversation> export_record(
    DiskTier& tier,
    const RecordName& name,
    const ConversationWriterOptions& to,
    const ConversationProgress& progress = nullptr);

} // namespace holdfast
