// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "recurrent_truth.h"

#include <algorithm>
#include <cmath>

namespace holdfast::conformance {

RecurrentTruth::RecurrentTruth(const RecurrentSpec& spec)
    : weights_(spec, 11),
      layer_(std::make_shared<const cpu::GatedDelta>(weights_.layer())),
      inputs_(test::random_inputs(spec, kVocabulary, 12)) {}

std::span<const float> RecurrentTruth::input(int32_t token) const {
  const auto width = static_cast<size_t>(spec().input_width());
  return {inputs_.data() + static_cast<size_t>(token) * width, width};
}

std::vector<float> RecurrentTruth::kept(int32_t token, int64_t head) const {
  const RecurrentSpec& of = spec();
  const int64_t keys = of.key_heads * of.key_dim;
  const int64_t values = of.sharing() * of.value_dim;
  const auto all = input(token);
  std::vector<float> result;
  const auto add = [&](int64_t from, int64_t count) {
    const auto part =
        all.subspan(static_cast<size_t>(from), static_cast<size_t>(count));
    result.insert(result.end(), part.begin(), part.end());
  };
  add(head * of.key_dim, of.key_dim);
  add(keys + head * of.key_dim, of.key_dim);
  add(2 * keys + head * values, values);
  return result;
}

// In f32, over up to hundreds of positions: within 2e-5 of the largest output,
// as tests/recurrent/recurrent_test.cpp has it.
Truth::Output RecurrentTruth::attend(std::span<const TokenAt> tokens) const {
  std::vector<float> inputs;
  for (const TokenAt& token : tokens) {
    const auto one = input(token.id);
    inputs.insert(inputs.end(), one.begin(), one.end());
  }
  const std::vector<double> all = test::recurrent_reference(weights_, inputs);
  double largest = 0.0;
  for (const double x : all) {
    largest = std::max(largest, std::fabs(x));
  }
  return {
      .values = {all.end() - spec().output_width(), all.end()},
      .bound = 2e-5 * largest};
}

} // namespace holdfast::conformance
