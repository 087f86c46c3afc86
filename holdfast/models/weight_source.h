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
#include "holdfast/models/settings.h"

namespace holdfast {

/// Neutral names; a field a family does not use stays 0. A field that the file
/// lacks stays 0 too, and the family supplies or refuses it.
struct ModelConfig {
  std::string family; // "gemma3"
  std::string name; // for people
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t ffn = 0;
  int64_t query_heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t vocab = 0;
  int64_t context = 0; // positions the model was made for
  int64_t window = 0; // of its sliding layers
  double norm_eps = 0;
  double rope_base = 0;
  double rope_base_local = 0; // of sliding layers
  double rope_scale = 0; // linear: 1 / factor, full layers
};

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
