// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/compiled.h"

#include <algorithm>
#include <array>
#include <optional>

#include "holdfast/state/step_graph.h"

namespace holdfast {

namespace mx = mlx::core;

namespace {

constexpr int64_t kMostTokens = 64; // models evaluate longer steps on the way

// Row i of the outputs is token i.
bool one_each(const Step& step, std::span<const int32_t> outputs) {
  bool each = std::ssize(outputs) == step.tokens();
  for (size_t i = 0; i < outputs.size() && each; ++i) {
    each = outputs[i] == static_cast<int32_t>(i);
  }
  return each;
}

} // namespace

struct CompiledModel::Graphs {
  std::array<std::optional<StepGraph>, kMostTokens> of_tokens;
  int64_t traces = 0;
};

CompiledModel::CompiledModel(const Model& model)
    : model_(model), graphs_(std::make_unique<Graphs>()) {}
CompiledModel::~CompiledModel() = default;

const ModelConfig& CompiledModel::config() const {
  return model_.config();
}

std::vector<LayerSpec> CompiledModel::layers() const {
  return model_.layers();
}

Bytes CompiledModel::weight_bytes() const {
  return model_.weight_bytes();
}

std::optional<mx::array> CompiledModel::forward(
    Step& step,
    std::span<const int32_t> tokens,
    std::span<const int32_t> outputs) const {
  if (step.tokens() >= kMostTokens || !one_each(step, outputs)) {
    return model_.forward(step, tokens, outputs);
  }
  auto& graph = graphs_->of_tokens[static_cast<size_t>(step.tokens())];
  if (graph && graph->fits(step)) {
    return graph->replay(step, tokens);
  }
  auto logits = model_.forward(step, tokens, outputs);
  graph.emplace(step, *logits, model_.constants());
  ++graphs_->traces;
  return logits;
}

int64_t CompiledModel::traces() const {
  return graphs_->traces;
}

int64_t CompiledModel::primitives(int64_t tokens) const {
  const auto& graph = graphs_->of_tokens.at(static_cast<size_t>(tokens));
  return graph ? graph->primitives() : 0;
}

} // namespace holdfast
