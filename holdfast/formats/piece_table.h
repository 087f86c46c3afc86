// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Piece text -> id: a flat hash table with open addressing over views, so that
// a quarter of a million pieces are indexed without an allocation each. No
// search is long, whatever the pieces are (seeded_hash.h). Immutable once
// built; any thread. The views' bytes must outlive the table.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/formats/seeded_hash.h"
#include "holdfast/formats/token_id.h"

namespace holdfast {

class PieceTable {
 public:
  /// An empty table for `pieces`, whose storage must stay in place.
  explicit PieceTable(
      std::span<const std::string_view> pieces,
      HashSeed seed = process_hash_seed());

  /// Indexes all pieces but the empty ones. Where two are equal it stops and
  /// returns them; else two kNoToken.
  std::pair<TokenId, TokenId> index_all();

  /// The id of an equal piece, or kNoToken.
  TokenId find(std::string_view text) const;

  /// Slots that the search for this text passes.
  size_t passed(std::string_view text) const;

 private:
  using Pair = std::pair<TokenId, TokenId>;
  std::optional<Pair> index(size_t most_passed);
  std::pair<TokenId, size_t> insert(TokenId id, uint64_t hash);

  struct Slot {
    uint32_t tag = 0; // high half of the hash; decides most mismatches
    TokenId id = kNoToken;
  };

  std::span<const std::string_view> pieces_;
  HashSeed seed_;
  std::vector<Slot> slots_; // power of two, at most half full
  uint64_t mask_ = 0;
  size_t longest_ = 0; // bytes
};

} // namespace holdfast
