// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a prefix index counts. Values; any thread.

#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "holdfast/base/strong.h"
#include "holdfast/prefix/why.h"

namespace holdfast {

struct TreeStats {
  // As of now.
  int64_t nodes = 0; // roots not counted
  int64_t chats = 0;
  int64_t ram_images = 0;
  int64_t disk_images = 0;
  Bytes image_bytes; // blocks referred to, each once
  Bytes index_bytes; // the index itself
  // Since the start.
  int64_t lookups = 0;
  int64_t hits = 0; // of at least one token
  int64_t tokens_asked = 0;
  int64_t tokens_from_ram = 0;
  int64_t tokens_from_disk = 0;
  std::array<int64_t, Why::kEnds> ends{}; // [Why::End], of the lookups
  std::array<int64_t, Why::kGaps> gaps{}; // [Why::Gap], likewise
  int64_t inserts = 0;
  int64_t cut_inserts = 0; // for want of room
  int64_t dropped_images = 0; // from RAM, with a copy on disk
  int64_t lost_images = 0; // from RAM, the only copy
  int64_t expired_images = 0; // of both
  /// Of a PrefixCache: times that what other processes stored could not be read
  /// before a prompt.
  int64_t failed_reads = 0;
  /// Likewise: texts without a name that are no longer wanted on disk, because
  /// their state left RAM before and their tokens take room.
  int64_t given_up = 0;

  /// "2 of 3 prompts knew something: 896 of 1200 tokens reused (0 from SSD);
  /// ended by: differs 2, nothing 1; held back by: snapshot 1".
  std::string line() const;
};

} // namespace holdfast
