// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model's settings and tensors out of a folder as on model hubs: config.json
// and safetensors (formats/safetensors_folder.h), mapped. BF16 stays bf16, F16
// and F32 become f32, MLX's quantised modules keep their codes. A tensor's
// pages are given back once it is packed, so that a load holds the file or the
// packed form of a weight, not both.
//
// Names are those of the family's published checkpoints without their leading
// "model." and "language_model.": "layers.0.mlp.up_proj.weight".
// Threads: one at a time.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "holdfast/engine/mlx_quantization.h"
#include "holdfast/engine/published_experts.h"
#include "holdfast/env/executor.h"
#include "holdfast/formats/safetensors_folder.h"
#include "holdfast/models/settings.h"
#include "holdfast/models/weight_source.h"

namespace holdfast {

class FolderWeights : public WeightSource {
 public:
  /// Called with the tensors' bytes read so far.
  using Progress = std::function<void(Bytes done, Bytes total)>;

  /// Reads config.json and the tensors' headers. Throws Error naming the file:
  /// kNotFound or kIo where one cannot be read, kCorrupt where it is not what
  /// it should be, kUnsupported for what others quantised.
  FolderWeights(
      const std::string& folder,
      std::shared_ptr<Executor> executor,
      Progress progress = nullptr);

  const ModelConfig& config() const override {
    return config_;
  }
  const Settings& settings() const override {
    return settings_;
  }
  /// The files that its tensors lie in.
  const SafetensorsFolder& files() const {
    return files_;
  }
  bool has(std::string_view name) const override;
  /// Of a quantised matrix: of the weights that its codes stand for.
  std::vector<int64_t> dims(std::string_view name) const override;
  cpu::Weight
  matrix(std::string_view name, int64_t n, int64_t k) const override;
  std::vector<cpu::Weight>
  stack(std::string_view name, int64_t count, int64_t n, int64_t k)
      const override;
  /// A tensor of any shape with n elements, row-major.
  std::vector<float> vector(std::string_view name, int64_t n) const override;

  /// Once a model is made: throws kUnsupported naming a tensor of the language
  /// part that it did not ask for. What a checkpoint has beside what its
  /// settings say (biases, norms, layers more) would be left out of every
  /// answer.
  void require_all_read() const;

 private:
  using Tensor = SafetensorsFolder::Tensor;
  struct Entry {
    std::string name; // as the file has it
    const Tensor* tensor;
  };
  /// A quantised module's tensors, of shapes that fit one another.
  struct Module {
    MlxModule matrix;
    std::vector<const Tensor*> parts; // codes, scales, biases if affine
  };

  const Entry* look(std::string_view name) const;
  const Entry& find(std::string_view name) const;
  /// "FOLDER/FILE: tensor NAME: expected ..., got ...".
  Error refusal(
      std::string_view name,
      const std::string& expected,
      const std::string& got,
      ErrorCode code = ErrorCode::kCorrupt) const;
  /// The module of a weight of codes; throws where its parts do not fit.
  Module module_of(std::string_view name) const;
  void require_part(const std::string& name, const Module& module) const;
  bool is_quantized(std::string_view name) const;
  /// Throws kCorrupt unless the weights have this shape.
  void
  require_shape(std::string_view name, const std::vector<int64_t>& shape) const;
  /// The `count` matrices [n, k] that lie in the tensor one after the other.
  std::vector<cpu::Weight>
  pack(std::string_view name, int64_t count, int64_t n, int64_t k) const;
  /// Rows of k values; `first`: where they begin.
  cpu::Weight
  pack_dense(TensorType type, const std::byte* first, int64_t n, int64_t k)
      const;
  cpu::Weight pack_module(const MlxModule& module) const;
  /// A stack of experts as gpt-oss is published.
  std::vector<cpu::Weight>
  pack_published(const PublishedRows& rows, int64_t count, int64_t n, int64_t k)
      const;
  /// Throws kCorrupt unless the tensor is of U8 and of this shape; its bytes.
  const std::byte* require_bytes(
      const std::string& name,
      const std::vector<int64_t>& shape) const;
  void require_dense(std::string_view name) const;
  void finished(const Tensor& tensor) const;

  std::string folder_;
  std::shared_ptr<Executor> executor_;
  Progress progress_;
  Settings settings_;
  ModelConfig config_;
  MlxQuantization quantization_;
  SafetensorsFolder files_;
  std::unordered_map<std::string, Entry> names_; // by canonical name
  Bytes total_; // of all tensors
  mutable Bytes done_;
  mutable std::unordered_set<const Tensor*> read_;
};

} // namespace holdfast
