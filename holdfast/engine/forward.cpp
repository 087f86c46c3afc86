// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/forward.h"

#include <vector>

#include "mlx/transforms.h"

#include "holdfast/base/check.h"

namespace holdfast {

std::span<const float> Logits::row(int64_t index) const {
  expect(index >= 0 && index < rows(), "[logits] expected a row below rows()");
  const auto vocab = static_cast<size_t>(values_->shape(1));
  return {values_->data<float>() + static_cast<size_t>(index) * vocab, vocab};
}

Logits
run_step(const Model& model, State& state, std::span<const RowTokens> rows) {
  std::vector<RowAppend> appends;
  std::vector<int32_t> tokens;
  std::vector<int32_t> outputs; // indices into tokens
  for (const RowTokens& row : rows) {
    const auto count = static_cast<int64_t>(row.tokens.size());
    expect(
        row.outputs >= 0 && row.outputs <= count,
        "[step] expected at most as many outputs as tokens");
    appends.push_back({row.row, count});
    tokens.insert(tokens.end(), row.tokens.begin(), row.tokens.end());
    const auto end = static_cast<int64_t>(tokens.size());
    for (int64_t i = end - row.outputs; i < end; ++i) {
      outputs.push_back(static_cast<int32_t>(i));
    }
  }
  Step step = state.begin(appends);
  std::optional<mlx::core::array> logits = model.forward(step, tokens, outputs);
  if (!logits) {
    step.commit_all();
    return {};
  }
  mlx::core::eval(*logits);
  step.commit_all();
  ensure(
      logits->dtype() == mlx::core::float32 && logits->ndim() == 2 &&
          logits->flags().row_contiguous,
      "[step] expected logits [R, vocab] in f32");
  return Logits(*std::move(logits));
}

} // namespace holdfast
