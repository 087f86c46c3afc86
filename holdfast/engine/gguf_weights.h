// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model's configuration and tensors out of a GGUF file. Codes keep the
// file's exact values; BF16 stays bf16, F16 and F32 become f32. Once a tensor
// is packed, the pages it was read from are given back, so that a load holds
// the file or the packed form of a weight, not both.
//
// Families whose settings are translated (gguf_settings.h) ask for tensors
// under their published names; a llama's rows of queries and keys, which the
// format keeps in pairs that turn together, come in the published order.
//
// Threads: one at a time. The file outlives it.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/env/executor.h"
#include "holdfast/formats/gguf.h"
#include "holdfast/models/weight_source.h"

namespace holdfast {

class GgufWeights : public WeightSource {
 public:
  /// Called with the file's bytes read so far.
  using Progress = std::function<void(Bytes done, Bytes total)>;

  /// Reads the configuration. A key of the wrong type or out of range throws
  /// Error at once; one that is absent only when a tensor is asked for, so that
  /// an unknown family is refused as such.
  GgufWeights(
      const GgufFile& file,
      std::shared_ptr<Executor> executor,
      Progress progress = nullptr);

  const ModelConfig& config() const override {
    return config_;
  }
  const Settings& settings() const override {
    return settings_ ? *settings_ : WeightSource::settings();
  }
  bool has(std::string_view name) const override;
  cpu::Weight
  matrix(std::string_view name, int64_t n, int64_t k) const override;
  std::vector<cpu::Weight>
  stack(std::string_view name, int64_t count, int64_t n, int64_t k)
      const override;
  std::vector<float> vector(std::string_view name, int64_t n) const override;

  /// Once a model is made: throws kUnsupported naming a tensor that it did not
  /// ask for. What a file has beside the family's own (biases, norms, experts
  /// of another kind) would be left out of every answer.
  void require_all_read() const;

 private:
  const GgufTensor& find(std::string_view name, int64_t rows, int64_t k) const;
  /// Rows [first, first + n), those of each head in the order of `pairs` (0:
  /// as they are): see row_of().
  cpu::Weight
  pack(const GgufTensor& tensor, int64_t first, int64_t n, int64_t pairs) const;
  /// Half the rows of a head that lie in pairs, or 0.
  int64_t pairs_of(std::string_view name) const;
  std::string where_is(std::string_view name, const GgufTensor* tensor) const;
  void finished(const GgufTensor& tensor) const;

  const GgufFile& file_;
  std::shared_ptr<Executor> executor_;
  Progress progress_;
  ModelConfig config_;
  std::string family_; // whose names tensors are asked for under, or ""
  std::optional<Settings> settings_;
  std::optional<Error> incomplete_; // the first absent key
  mutable int64_t done_ = 0; // bytes of tensors read
  mutable std::vector<bool> read_; // [tensor]
};

} // namespace holdfast
