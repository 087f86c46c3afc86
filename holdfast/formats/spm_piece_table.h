// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Piece text -> id: a flat hash table with open addressing over views, so that
// a quarter of a million pieces are indexed without an allocation each.
// Immutable once built; any thread. The views' bytes must outlive the table.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "holdfast/formats/spm_vocabulary.h"

namespace holdfast {

class SpmPieceTable {
 public:
  /// Room for `count` pieces of `pieces`, whose storage must stay in place.
  SpmPieceTable(std::span<const std::string_view> pieces);

  /// Adds piece `id`; kNoToken, or the id of an equal piece that is already
  /// there (then nothing changes).
  TokenId insert(TokenId id);

  /// The id of an equal piece, or kNoToken.
  TokenId find(std::string_view text) const;

 private:
  struct Slot {
    uint32_t tag = 0; // high half of the hash; decides most mismatches
    TokenId id = kNoToken;
  };

  std::span<const std::string_view> pieces_;
  std::vector<Slot> slots_; // power of two, at most half full
  uint64_t mask_ = 0;
  size_t longest_ = 0; // bytes
};

} // namespace holdfast
