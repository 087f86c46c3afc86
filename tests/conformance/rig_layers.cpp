// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The layers of a step, as a function of its tokens: built anew, or replayed.

#include <iterator>

#include "mlx/mlx.h"

#include "rig.h"
#include "tests/code_of.h"

namespace holdfast::conformance {

namespace {

namespace mx = mlx::core;

/// One vector a token id: [kVocabulary, heads, elements].
mx::array
table(int64_t heads, const std::function<std::span<const float>(int32_t)>& of) {
  std::vector<float> all;
  for (int32_t token = 0; token < kVocabulary; ++token) {
    const auto vectors = of(token);
    all.insert(all.end(), vectors.begin(), vectors.end());
  }
  const auto elements = std::ssize(all) / kVocabulary / heads;
  return mx::array(
      all.data(),
      mx::Shape{
          kVocabulary, static_cast<int>(heads), static_cast<int>(elements)},
      mx::float32);
}

std::vector<int32_t> tokens_of(const std::vector<Draft>& drafts) {
  std::vector<int32_t> ids;
  for (const Draft& draft : drafts) {
    ids.insert(ids.end(), draft.tokens.begin(), draft.tokens.end());
  }
  return ids;
}

/// All elements one after the other, layer by layer.
mx::array joined(const std::vector<mx::array>& outputs, mx::Stream stream) {
  std::vector<mx::array> flat;
  for (const mx::array& output : outputs) {
    flat.push_back(mx::reshape(output, {-1}, stream));
  }
  return mx::concatenate(std::move(flat), 0, stream);
}

} // namespace

std::vector<mx::array>
tables_of(const Truth& truth, const RecurrentTruth& recurrent) {
  if (truth.cell().recurrent) {
    const auto inputs = [&](int32_t token) { return recurrent.input(token); };
    auto rows = mx::reshape(
        table(1, inputs),
        {kVocabulary, static_cast<int>(recurrent.spec().input_width())});
    mx::eval({rows}); // a constant of graphs, and no part of one
    return {rows};
  }
  const AttentionSpec& spec = truth.cell().spec;
  const auto given = [&](ChannelRole role) {
    return table(spec.kv_heads, [&truth, role](int32_t token) {
      return std::span(truth.given(token).of(role));
    });
  };
  return {
      table(
          spec.query_heads,
          [&](int32_t token) { return std::span(truth.query(token)); }),
      given(ChannelRole::kKeys),
      given(ChannelRole::kValues)};
}

std::vector<mx::array>
Rig::outputs(Step& step, const std::vector<int32_t>& ids, size_t layers) const {
  const mx::array tokens = step.token_ids(ids);
  std::vector<mx::array> result;
  for (size_t layer = 0; layer < layers; ++layer) {
    const LayerIndex index(static_cast<int64_t>(layer));
    const auto taken = [&](size_t i) {
      return mx::take(tables_[layer][i], tokens, 0, step.stream());
    };
    if (cells_[layer].recurrent) {
      result.push_back(step.recur(index, recurrent_.layer(), taken(0)));
    } else if (cells_[layer].spec.donor) {
      result.push_back(step.attend_donor(index, taken(0)));
    } else {
      result.push_back(step.attend(index, taken(0), taken(1), taken(2)));
    }
  }
  return result;
}

std::shared_ptr<const StepOutputs>
Rig::attend(Step& step, const std::vector<Draft>& drafts, size_t layers) {
  std::vector<mx::array> arrays = outputs(step, tokens_of(drafts), layers);
  mx::eval(arrays);
  played_ += step.tokens();
  auto result = std::make_shared<StepOutputs>();
  for (const mx::array& array : arrays) {
    result->emplace_back(
        array.data<float>(), array.data<float>() + array.size());
  }
  return result;
}

std::shared_ptr<const StepOutputs>
Rig::attend_again(Step& step, const std::vector<Draft>& drafts) {
  const std::vector<int32_t> ids = tokens_of(drafts);
  const auto known = graphs_.find(step.tokens());
  const bool replays = known != graphs_.end();
  mx::array flat = replays
      ? known->second.replay(step, ids)
      : joined(outputs(step, ids, cells_.size()), step.stream());
  std::vector<mx::array> constants;
  for (const auto& of_layer : tables_) {
    constants.insert(constants.end(), of_layer.begin(), of_layer.end());
  }
  if (std::ranges::all_of(cells_, &Cell::exact)) {
    replayed_ += replays ? 1 : 0;
    if (!replays) {
      graphs_.emplace(step.tokens(), StepGraph(step, flat, constants));
    }
  } else {
    require(
        code_of([&] { StepGraph(step, flat, constants); }) ==
            ErrorCode::kUnsupported,
        "no graph over a reference read");
  }
  mx::eval({flat});
  played_ += step.tokens();
  auto result = std::make_shared<StepOutputs>();
  const float* from = flat.data<float>();
  for (const Cell& cell : cells_) {
    const int64_t count = step.tokens() * cell.output_width();
    result->emplace_back(from, from + count);
    from += count;
  }
  require(
      from == flat.data<float>() + flat.size(), "the outputs of all layers");
  return result;
}

} // namespace holdfast::conformance
