// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/experts.h"

#include <optional>
#include <string>
#include <utility>

namespace holdfast {

namespace {

class Loader {
 public:
  Loader(const WeightSource& source, const ExpertsShape& shape, int64_t layer)
      : source_(source), shape_(shape), layer_(layer) {}

  std::vector<cpu::Expert> experts() const {
    const int64_t hidden = source_.config().hidden;
    auto gate = matrices("gate_proj", shape_.ffn, hidden);
    auto up = matrices("up_proj", shape_.ffn, hidden);
    auto down = matrices("down_proj", hidden, shape_.ffn);
    std::vector<cpu::Expert> all;
    for (size_t i = 0; i < gate.size(); ++i) {
      all.push_back(
          {.gate = std::move(gate[i]),
           .up = std::move(up[i]),
           .down = std::move(down[i])});
    }
    if (shape_.biases) {
      add_biases("gate_proj", shape_.ffn, all, &cpu::Expert::gate_up_bias);
      add_biases("up_proj", shape_.ffn, all, &cpu::Expert::gate_up_bias);
      add_biases("down_proj", hidden, all, &cpu::Expert::down_bias);
    }
    return all;
  }

 private:
  std::string name(const char* part, const char* kind) const {
    return layer_tensor(layer_, shape_.stacked) + "." + part + "." + kind;
  }

  std::vector<cpu::Weight>
  matrices(const char* part, int64_t n, int64_t k) const {
    const std::string stacked = name(part, "weight");
    if (*shape_.single == '\0' || source_.has(stacked)) {
      return source_.stack(stacked, shape_.count, n, k);
    }
    std::vector<cpu::Weight> all;
    for (int64_t i = 0; i < shape_.count; ++i) {
      all.push_back(source_.matrix(
          layer_tensor(layer_, shape_.single) + "." + std::to_string(i) + "." +
              part + ".weight",
          n,
          k));
    }
    return all;
  }

  /// Behind what each expert has.
  void add_biases(
      const char* part,
      int64_t n,
      std::vector<cpu::Expert>& experts,
      std::vector<float> cpu::Expert::*bias) const {
    const auto all = source_.vector(name(part, "bias"), shape_.count * n);
    auto at = all.begin();
    for (cpu::Expert& expert : experts) {
      (expert.*bias).insert((expert.*bias).end(), at, at + n);
      at += n;
    }
  }

  const WeightSource& source_;
  const ExpertsShape& shape_;
  const int64_t layer_;
};

} // namespace

Experts load_experts(
    const WeightSource& source,
    const ExpertsShape& shape,
    ExpertsSpec spec) {
  const std::string router = layer_tensor(spec.layer, shape.router) + ".weight";
  Experts layer;
  layer.router = load_linear(
      source,
      {{router, shape.count}},
      {.k = source.config().hidden,
       .norm = spec.norm,
       .eps = spec.eps,
       .biases = shape.biases});
  layer.mix = std::make_shared<const cpu::ExpertsLayer>(cpu::ExpertsLayer{
      .experts = Loader(source, shape, spec.layer).experts(),
      .norm = std::move(spec.norm),
      .eps = spec.eps,
      .gate = spec.activation,
      .top = shape.top,
      .routing = shape.routing});
  return layer;
}

mlx::core::array run_experts(
    const Experts& layer,
    const mlx::core::array& x,
    const cpu::Place& place) {
  const auto scores = cpu::linear(layer.router, x, std::nullopt, place);
  return cpu::mix_experts(layer.mix, x, scores, place);
}

Bytes weight_bytes(const Experts& layer) {
  Bytes total;
  if (layer.mix) {
    total += weight_bytes(*layer.router);
    for (const cpu::Expert& expert : layer.mix->experts) {
      total += expert.gate.bytes() + expert.up.bytes() + expert.down.bytes();
    }
  }
  return total;
}

} // namespace holdfast
