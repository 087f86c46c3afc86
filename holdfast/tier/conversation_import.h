// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// From a conversation's file into a disk tier. Threads: any; calls block.

#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/base/key_hash.h"
#include "holdfast/base/status.h"
#include "holdfast/tier/conversation_export.h"
#include "holdfast/tier/conversation_reader.h"
#include "holdfast/tier/disk_tier.h"

namespace holdfast {

struct ConversationImport {
  ScopeText scope; // what it is stored under; the caller has compared
  Key128 root; // the key of the scope's root
  /// [group][phase] the lengths of an image's planes, as ImageToStore's; their
  /// sum is the one size that an image of the slot may have.
  std::vector<std::vector<std::vector<Bytes>>> planes;
  RecordName name;
  bool replace = false; // a record of that name
  /// Stored at once, and held in memory.
  Bytes batch{int64_t{256} << 20};
};

struct ImportedConversation {
  Position tokens;
  int64_t images = 0;
  Bytes image_bytes; // of the file
  Bytes written; // what the tier lacked
};

/// The record with all of its state, or no record: kCorrupt (the file, or an
/// image of another size or slot), kInvalidArgument (the name is taken),
/// kOutOfBudget, kIo. Everything is compared before anything is stored.
Result<ImportedConversation> import_conversation(
    DiskTier& tier,
    const ConversationReader& file,
    const ConversationImport& how,
    const ConversationProgress& progress = nullptr);

} // namespace holdfast
