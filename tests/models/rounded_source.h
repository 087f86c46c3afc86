// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tensors of another source, rounded to bf16: matrices become bf16, vectors
// f32 of such values. One thread.

#pragma once

#include <string_view>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/models/weight_source.h"

namespace holdfast::test {

class RoundedSource : public WeightSource {
 public:
  RoundedSource(const WeightSource& source, Executor& executor)
      : source_(source), executor_(executor) {}

  const ModelConfig& config() const override {
    return source_.config();
  }
  const Settings& settings() const override {
    return source_.settings();
  }
  bool has(std::string_view name) const override {
    return source_.has(name);
  }
  std::vector<int64_t> dims(std::string_view name) const override {
    return source_.dims(name);
  }
  cpu::Weight
  matrix(std::string_view name, int64_t n, int64_t k) const override {
    return rounded(source_.matrix(name, n, k));
  }
  std::vector<cpu::Weight>
  stack(std::string_view name, int64_t count, int64_t n, int64_t k)
      const override {
    std::vector<cpu::Weight> matrices;
    for (const cpu::Weight& weight : source_.stack(name, count, n, k)) {
      matrices.push_back(rounded(weight));
    }
    return matrices;
  }
  std::vector<float> vector(std::string_view name, int64_t n) const override {
    std::vector<float> values = source_.vector(name, n);
    for (float& value : values) {
      value = bf16_to_f32(f32_to_bf16(value));
    }
    return values;
  }

 private:
  cpu::Weight rounded(const cpu::Weight& weight) const {
    return cpu::Weight::pack_values(
        cpu::WeightFormat::Kind::kBf16,
        weight.n(),
        weight.k(),
        [&](int64_t row, float* values) { weight.read_row(row, values); },
        executor_);
  }

  const WeightSource& source_;
  Executor& executor_;
};

} // namespace holdfast::test
