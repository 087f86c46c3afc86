// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a model asks of a file: its configuration and its tensors by name, in
// the kernels' form. Implemented by the engine, one per file format, so that a
// family knows no file format and a reader knows no model. One thread.
//
// Errors: a missing or misshapen tensor throws Error with a line that names
// file, tensor, and what was expected.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/check.h"
#include "holdfast/base/strong.h"
#include "holdfast/kernels/cpu/ops.h"
#include "holdfast/kernels/cpu/weight.h"
#include "holdfast/models/model_config.h"
#include "holdfast/models/settings.h"

namespace holdfast {

/// A matrix [n, k] by its name; without one, the matrix before it once more.
struct MatrixName {
  std::string name;
  int64_t n = 0;
};

/// What an adapter adds to a product: up(down(x)).
struct LowRank {
  cpu::LinearLayer down; // [ranks, k]
  cpu::LinearLayer up; // [sum of n, ranks], scaled
};

class WeightSource {
 public:
  virtual ~WeightSource() = default;

  virtual const ModelConfig& config() const = 0;
  /// The family's own settings. Throws kUnsupported where the format keeps
  /// none.
  virtual const Settings& settings() const {
    throw Error(
        ErrorCode::kUnsupported,
        "[weights] expected a model folder with a config.json for family \"" +
            config().family + "\", got another kind of file");
  }
  virtual bool has(std::string_view name) const = 0;
  /// The tensor's sizes, outermost first. Throws as settings().
  virtual std::vector<int64_t> dims(std::string_view name) const {
    settings();
    throw Error(
        ErrorCode::kUnsupported,
        "[weights] expected a format that tells the sizes of " +
            std::string(name) + ", got another");
  }
  /// A matrix [n, k], codes kept, packed for the kernels. Not cached: ask once.
  virtual cpu::Weight
  matrix(std::string_view name, int64_t n, int64_t k) const = 0;
  /// The matrices [n, k] of a stack, a tensor [count, n, k] or [count * n, k]:
  /// one an expert, or fused projections. As matrix(); throws kUnsupported
  /// where the format holds no stacks.
  virtual std::vector<cpu::Weight>
  stack(std::string_view name, int64_t count, int64_t n, int64_t k) const {
    throw Error(
        ErrorCode::kUnsupported,
        "[weights] expected a format that holds " + std::to_string(count) +
            " matrices [" + std::to_string(n) + ", " + std::to_string(k) +
            "] as tensor " + std::string(name) + ", got another");
  }
  /// What an adapter adds to the products with these matrices [n, k], side by
  /// side; nothing where it adds nothing.
  virtual std::optional<LowRank>
  low_rank(std::span<const MatrixName> /*matrices*/, int64_t /*k*/) const {
    return std::nullopt;
  }
  /// A vector [n] in f32.
  virtual std::vector<float> vector(std::string_view name, int64_t n) const = 0;
};

} // namespace holdfast
