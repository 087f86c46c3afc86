// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model's settings and tensors out of a folder: config.json and
// *.safetensors, which MLX's loader reads. BF16 stays bf16, F16 and F32 become
// f32. A tensor is read when it is asked for and let go once it is packed.
//
// Names are those of the family's published checkpoints without their leading
// "model." and "language_model.": "layers.0.mlp.up_proj.weight".
// Threads: the engine thread.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "mlx/array.h"

#include "holdfast/env/executor.h"
#include "holdfast/models/settings.h"
#include "holdfast/models/weight_source.h"

namespace holdfast {

class FolderWeights : public WeightSource {
 public:
  /// Reads config.json and the tensors' headers. Throws Error naming the file:
  /// kIo where one cannot be read, kCorrupt where it is not what it should be,
  /// kUnsupported for quantised tensors.
  FolderWeights(const std::string& folder, std::shared_ptr<Executor> executor);

  const ModelConfig& config() const override {
    return config_;
  }
  const Settings& settings() const override {
    return settings_;
  }
  bool has(std::string_view name) const override;
  std::vector<int64_t> dims(std::string_view name) const override;
  cpu::Weight
  matrix(std::string_view name, int64_t n, int64_t k) const override;
  std::vector<cpu::Weight>
  stack(std::string_view name, int64_t count, int64_t n, int64_t k)
      const override;
  /// A tensor of any shape with n elements, row-major. Each tensor can be
  /// asked for once.
  std::vector<float> vector(std::string_view name, int64_t n) const override;

 private:
  struct Tensor {
    std::optional<mlx::core::array> array; // until it is read
    std::vector<int64_t> shape;
  };
  /// Throws kCorrupt unless the tensor has this shape.
  void
  require_shape(std::string_view name, const std::vector<int64_t>& shape) const;
  /// Rows [first, first + n) of k values.
  cpu::Weight
  pack(const mlx::core::array& tensor, int64_t first, int64_t n, int64_t k)
      const;
  Tensor& find(std::string_view name) const;
  /// Reads the tensor and lets go of it here.
  mlx::core::array take(std::string_view name) const;
  void add_file(const std::string& path);

  std::string folder_;
  std::shared_ptr<Executor> executor_;
  Settings settings_;
  ModelConfig config_;
  mutable std::unordered_map<std::string, Tensor> tensors_;
};

} // namespace holdfast
