// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A small gemma3 with random weights: a WeightSource without a file. Values are
// a function of the tensor's name alone. Any thread.

#pragma once

#include <functional>
#include <random>

#include "holdfast/base/check.h"
#include "holdfast/models/model.h"

namespace holdfast::test {

inline ModelConfig small_gemma3() {
  ModelConfig config;
  config.family = "gemma3";
  config.name = "random";
  config.layers = 7; // the sixth is full
  config.hidden = 96;
  config.ffn = 160;
  config.query_heads = 4;
  config.kv_heads = 2;
  config.head_dim = 64;
  config.vocab = 300;
  config.context = 1024;
  config.window = 24;
  config.norm_eps = 1e-6;
  config.rope_base = 1e6;
  return config;
}

class RandomSource : public WeightSource {
 public:
  /// `format` of every matrix; codes are quantised from the same random values.
  RandomSource(ModelConfig config, cpu::WeightFormat format, Executor& executor)
      : config_(std::move(config)), format_(format), executor_(executor) {}

  const ModelConfig& config() const override {
    return config_;
  }
  bool has(std::string_view name) const override {
    return name != "output.weight";
  }

  /// The values behind matrix(): [n * k], for kF32 exactly those of the weight.
  std::vector<float> values(std::string_view name, int64_t n, int64_t k) const {
    std::mt19937_64 random(std::hash<std::string_view>{}(name));
    std::normal_distribution<float> normal(
        0.0f, name == "token_embd.weight" ? 0.5f : 1.0f / std::sqrt(float(k)));
    std::vector<float> values(n * k);
    for (float& value : values) {
      value = normal(random);
    }
    return values;
  }

  cpu::Weight
  matrix(std::string_view name, int64_t n, int64_t k) const override {
    const std::vector<float> all = values(name, n, k);
    if (format_.kind != cpu::WeightFormat::Kind::kCodes) {
      return cpu::Weight::pack_values(
          format_.kind,
          n,
          k,
          [&](int64_t row, float* out) {
            std::copy_n(all.data() + row * k, k, out);
          },
          executor_);
    }
    return cpu::Weight::pack_codes(
        format_,
        n,
        k,
        [&](int64_t row, const cpu::CodeRow& out) {
          quantise(all.data() + row * k, k, out);
        },
        executor_);
  }

  std::vector<float> vector(std::string_view name, int64_t n) const override {
    std::mt19937_64 random(std::hash<std::string_view>{}(name));
    std::uniform_real_distribution<float> uniform(0.5f, 1.5f);
    std::vector<float> values(n);
    for (float& value : values) {
      value = uniform(random);
    }
    return values;
  }

 private:
  // Round to nearest on a symmetric grid of 2^bits levels.
  void quantise(const float* x, int64_t k, const cpu::CodeRow& out) const {
    const int half = 1 << (format_.bits - 1);
    for (int64_t g = 0; g < k / format_.group; ++g) {
      float largest = 0;
      for (int64_t i = 0; i < format_.group; ++i) {
        largest = std::max(largest, std::abs(x[g * format_.group + i]));
      }
      const float scale = largest / float(half - 1);
      out.scales[g] = scale;
      if (format_.offsets) {
        out.offsets[g] = -scale * float(half);
      }
      for (int64_t i = 0; i < format_.group; ++i) {
        const float code =
            std::round(x[g * format_.group + i] / scale) + float(half);
        out.codes[g * format_.group + i] =
            static_cast<uint8_t>(std::clamp(code, 0.0f, 2.0f * half - 1));
      }
    }
  }

  const ModelConfig config_;
  const cpu::WeightFormat format_;
  Executor& executor_;
};

} // namespace holdfast::test
