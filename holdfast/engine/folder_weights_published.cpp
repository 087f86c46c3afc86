// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// FolderWeights: experts as gpt-oss is published (published_experts.h).

#include "holdfast/engine/folder_weights.h"
#include "holdfast/engine/mxfp4.h"

namespace holdfast {

const std::byte* FolderWeights::require_bytes(
    const std::string& name,
    const std::vector<int64_t>& shape) const {
  const Tensor& tensor = *find(name).tensor;
  if (tensor.stored.type_name != "U8" || tensor.stored.shape != shape) {
    throw refusal(
        name,
        "U8 of shape " + shape_text(shape),
        tensor.stored.type_name + " of " + shape_text(tensor.stored.shape));
  }
  return tensor.bytes().data();
}

std::vector<cpu::Weight> FolderWeights::pack_published(
    const PublishedRows& rows,
    int64_t count,
    int64_t n,
    int64_t k) const {
  const int64_t groups = k / kMxfp4Group;
  const int64_t all = n * rows.step; // rows an expert
  const std::byte* codes =
      require_bytes(rows.blocks, {count, all, groups, kMxfp4Group / 2});
  const std::byte* exponents = require_bytes(rows.scales, {count, all, groups});
  std::vector<cpu::Weight> result;
  try {
    for (int64_t i = 0; i < count; ++i) {
      result.push_back(cpu::Weight::pack_codes(
          kMxfp4Format,
          n,
          k,
          [&](int64_t row, const cpu::CodeRow& out) {
            const int64_t at = i * all + row * rows.step + rows.first;
            read_mxfp4(codes + at * k / 2, exponents + at * groups, k, out);
          },
          *executor_));
    }
  } catch (const Error& error) {
    throw refusal(rows.blocks, "weights that fit a matrix", error.what());
  }
  for (const std::string& part : {rows.blocks, rows.scales}) {
    finished(*find(part).tensor);
  }
  return result;
}

} // namespace holdfast
