// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The pieces of a vocabulary: their texts in memory of their own, their kinds,
// and the way from a text to its id. Filled once, then immutable; any thread.

#pragma once

#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/formats/piece_table.h"
#include "holdfast/formats/token_id.h"

namespace holdfast {

struct PieceList {
  /// Copies the bytes of the views, so that nothing depends any more on where
  /// they came from. All kinds are kNormal, and none is found yet.
  explicit PieceList(std::vector<std::string_view> views);
  // Not copied: pieces view their own text.
  PieceList(PieceList&&) = default;
  PieceList& operator=(PieceList&&) = default;

  /// From here on the table finds every piece but the empty ones, which have an
  /// id and no text to be found by. kCorrupt where two are equal.
  Status index();

  std::vector<char> text; // of all pieces
  std::vector<std::string_view> pieces; // [V], of `text`
  std::vector<PieceType> types; // [V]
  PieceTable table{{}}; // of `pieces`, once they are indexed
};

} // namespace holdfast
