// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Padded arrays into ragged ones and back, as a PaddedInput's pieces say. Lazy;
// values of padding are never read, and come back as zero.
//
// Threads: the engine thread, on the state's stream.

#pragma once

#include <span>
#include <vector>

#include "mlx/array.h"
#include "mlx/stream.h"

#include "holdfast/rows/padded.h"

namespace holdfast {

/// x [B, columns, ...] (tokens, embeddings) -> [T, ...]. Throws
/// kInvalidArgument for another B and columns than the piece's, and for places
/// out of them.
mlx::core::array gather_tokens(
    const mlx::core::array& x,
    const PaddedPiece& piece,
    mlx::core::Stream stream);
/// x [B, H, columns, D] (queries, keys, values) -> [T, H, D]. Throws likewise.
mlx::core::array gather_heads(
    const mlx::core::array& x,
    const PaddedPiece& piece,
    mlx::core::Stream stream);

/// What the steps of the open columns gave, put back in its places.
class PaddedOutput {
 public:
  /// As PaddedInput::batch() and columns() say. Throws kInvalidArgument for
  /// more places than kMaxPositions.
  PaddedOutput(int64_t batch, int64_t columns);

  /// ragged: [T, ...] of that piece, the same behind T for all. Throws
  /// kInvalidArgument for another number, or shape behind it, for pieces of
  /// other columns and for places that are filled.
  void add(const PaddedPiece& piece, mlx::core::array ragged);
  /// [B, columns, ...], zero where no piece had a token. Throws
  /// kInvalidArgument where nothing was added.
  mlx::core::array tokens(mlx::core::Stream stream) const;
  /// [B, H, columns, D] of what was [T, H, D].
  mlx::core::array heads(mlx::core::Stream stream) const;

 private:
  int64_t batch_;
  int64_t columns_;
  std::vector<int32_t> sources_; // [place]: its token of all parts, or none
  int32_t tokens_ = 0; // of all parts
  std::vector<mlx::core::array> parts_;
};

} // namespace holdfast
