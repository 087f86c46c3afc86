// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// All texts that a record of a folder is about: its own tokens, and what its
// body says of others: the branches of a chat, an answer that was interrupted.
// Values; any thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/tier/disk_tier.h"

namespace holdfast::app {

struct RecordTexts {
  /// Where each of them ends: what begins with one of these was of it.
  std::vector<std::vector<int32_t>> tokens;
  /// The longest of those that go on after another; each is the beginning of
  /// one of these.
  std::vector<std::vector<int32_t>> longest;
  std::vector<std::string> bytes; // of the body, unpacked where it is packed
  /// False where the body, which is damaged, named other texts as well.
  bool whole = true;
};

/// A body that cannot be read has nothing to say.
RecordTexts texts_of(const RecordText& record);
/// The same of a tier's record, whose own tokens are there also where its body
/// is damaged. kNotFound, kIo.
Result<RecordTexts> texts_of(DiskTier& tier, const RecordName& name);

/// Records that go with a chat and are no chats: its question and the answers
/// that were interrupted.
std::vector<RecordName> related_records(DiskTier& tier, const RecordName& chat);

} // namespace holdfast::app
