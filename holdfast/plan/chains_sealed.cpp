// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Chains, where rows keep the blocks that become full in them for a prefix
// index.

#include <utility>

#include "holdfast/block/layout.h"
#include "holdfast/plan/chains.h"

namespace holdfast {

void Chains::keep_sealed(RowId row, bool keep) {
  require_no_step("[chains.keep_sealed]");
  Row& of = at(row);
  of.keeps_sealed = keep;
  if (!keep) {
    of.sealed = {};
  }
}

std::vector<SealedBlock> Chains::take_sealed(RowId row) {
  require_no_step("[chains.take_sealed]");
  return std::exchange(at(row).sealed, {});
}

void Chains::reserve_sealed(const RowAppend& append) {
  Row& row = at(append.row);
  if (!row.keeps_sealed) {
    return;
  }
  const int64_t full =
      (row.chain.committed().get() + append.count) / kBlockTokens;
  const int64_t more = (full - row.chain.sealed_end().get()) * groups();
  row.sealed.reserve(row.sealed.size() + static_cast<size_t>(more));
}

} // namespace holdfast
