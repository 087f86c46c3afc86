// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tensors of another source, which stay as they are, and what an adapter
// adds to their products. The factors of matrices that stand side by side are
// joined: `down` has their rows one below the other, `up` is block-diagonal, so
// that both are one product each. Factors of bf16 stay bf16, others become f32.
// One thread; adapter and source outlive it.

#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "holdfast/engine/adapter.h"
#include "holdfast/env/executor.h"
#include "holdfast/models/weight_source.h"

namespace holdfast {

class AdaptedWeights : public WeightSource {
 public:
  /// Throws where the adapter's settings do not fit the model's layers.
  AdaptedWeights(
      const WeightSource& source,
      const Adapter& adapter,
      std::shared_ptr<Executor> executor);

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
    return source_.matrix(name, n, k);
  }
  std::vector<cpu::Weight>
  stack(std::string_view name, int64_t count, int64_t n, int64_t k)
      const override {
    return source_.stack(name, count, n, k);
  }
  std::vector<float> vector(std::string_view name, int64_t n) const override {
    return source_.vector(name, n);
  }
  std::optional<LowRank>
  low_rank(std::span<const MatrixName> matrices, int64_t k) const override;

  /// Once the model is made: throws kUnsupported, naming the tensor, for what
  /// the family asked nothing of.
  void require_all_used() const;

 private:
  const Adapter::Part* find(const std::string& matrix) const;
  /// One matrix's `up` [n, ranks], which begins at column `first`; of zeros
  /// where there is no part.
  cpu::Weight
  pack_up(const Adapter::Part* part, int64_t n, int64_t first, int64_t ranks)
      const;

  const WeightSource& source_;
  const Adapter& adapter_;
  std::shared_ptr<Executor> executor_;
  mutable std::set<std::string, std::less<>> used_; // modules
};

} // namespace holdfast
