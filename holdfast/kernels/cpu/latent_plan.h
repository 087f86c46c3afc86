// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How a latent layer's queries are cut into pieces. A piece decodes a block
// once for all of its queries: neighbouring tokens of a row, or tokens of rows
// that have the same leading blocks. The cut follows the load, the number of
// threads and what rows share, and never a result's bits: a query meets what it
// sees block by block, in order, whoever meets it too.
// Values; any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/kernels/cpu/latent.h"

namespace holdfast::cpu {

/// Tokens [first, first + count) of a row of the batch.
struct LatentTokens {
  int64_t row = 0;
  int64_t first = 0; // within the row's
  int64_t count = 0;
};

struct LatentPiece {
  std::vector<LatentTokens> rows; // one of each row
  /// Blocks below are the same images in each row, as far as one of its queries
  /// sees them. 0 where there is one row.
  int64_t shared_end = 0;
  int64_t head = 0; // first
  int64_t heads = 0;

  int64_t tokens() const;
};

/// Of the job's spec, rows and blocks.
std::vector<LatentPiece> plan_latent(const LatentJob& job, int threads);

/// The first position that the row's query at `position` sees.
int64_t
latent_begin(const AttentionSpec& spec, const RowSpan& row, int64_t position);

} // namespace holdfast::cpu
