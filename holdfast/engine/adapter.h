// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A LoRA adapter out of its folder: adapter_config.json, and the tensors in
// adapter_model.safetensors (PEFT) or adapters.safetensors (mlx-lm). Read
// whole, so that its digest is that of the bytes that are used, whatever
// becomes of the files. docs/folders.md. Immutable; any thread.
//
// Errors: throws Error, one line that names file and tensor or setting.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/check.h"
#include "holdfast/engine/adapter_config.h"
#include "holdfast/formats/safetensors.h"

namespace holdfast {

class Adapter {
 public:
  /// One factor of what is added to a matrix, as the file has it.
  struct Factor {
    std::string name; // of the tensor; empty: there is none
    StoredTensor stored = {};
  };
  /// What is added to the matrix of a module: scale * up down.
  struct Part {
    std::string module; // "model.layers.0.self_attn.q_proj"
    Factor down;
    Factor up;
    AdapterConfig::Change change = {};
  };
  /// A factor's values in rows, for a product with what comes from the right.
  struct Values {
    std::vector<float> rows; // down: [rank, k]; up: [n, rank]
    bool halves = false; // they are bf16 values
  };

  explicit Adapter(const std::string& folder);

  /// SHA-256 of the lines "DIGEST NAME" of its two files, hex.
  const std::string& digest() const {
    return digest_;
  }
  /// By module without leading "model." and "language_model.".
  const std::map<std::string, Part, std::less<>>& parts() const {
    return parts_;
  }
  /// Of a part of this adapter, for a matrix [n, k]. Throws kCorrupt for other
  /// shapes and for numbers that are not finite.
  Values down(const Part& part, int64_t k) const;
  Values up(const Part& part, int64_t n) const;
  /// Throws where a part is of a layer that the adapter's settings leave out of
  /// a model of so many.
  void require_layers(int64_t layers) const;
  /// "FOLDER/FILE: tensor NAME: expected ..., got ...".
  Error refusal(
      std::string_view tensor,
      const std::string& expected,
      const std::string& got,
      ErrorCode code = ErrorCode::kCorrupt) const;

 private:
  enum class Side { kDown, kUp };
  void add(const std::string& name, const StoredTensor& stored);
  void require_pair(const Part& part) const;
  Values read(
      const Factor& factor,
      const std::vector<int64_t>& shape,
      bool turned) const;

  std::string where_; // of the tensors
  std::string digest_;
  AdapterConfig config_;
  std::vector<std::byte> bytes_; // of the tensors' file
  std::map<std::string, Part, std::less<>> parts_;
};

} // namespace holdfast
