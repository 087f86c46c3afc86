// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a model folder becomes when it is packed: which tensors are quantised,
// and which files hold what. A value; any thread.
//
// Quantised are matrices [N, K] named "X.weight", K a multiple of the group:
// what mlx-lm's linear layers and embeddings hold. Others stay as they are, and
// so do routers, whose choices would turn, and experts in tensors of their own
// ("X.experts.3.Y.weight"), which mlx-lm stacks before it knows of scales.

#pragma once

#include <string>
#include <vector>

#include "holdfast/engine/mlx_quantization.h"
#include "holdfast/formats/safetensors_folder.h"
#include "holdfast/formats/safetensors_writer.h"

namespace holdfast {

struct PackedFile {
  std::string name; // "model-00001-of-00002.safetensors"
  std::vector<std::string> sources; // tensors of the model
  std::vector<TensorToWrite> tensors;
};

struct PackPlan {
  std::vector<PackedFile> files;
  int64_t quantized = 0; // tensors
  Bytes source; // of all tensors, before
  Bytes written; // and after

  /// model.safetensors.index.json.
  std::string index() const;
};

/// Whether the tensor is quantised.
bool is_packed(std::string_view name, const StoredTensor& stored, int group);
/// "X.scales" of "X.weight", and so on.
std::string module_part(std::string_view weight, std::string_view part);

/// Files of at most `most` bytes, unless a tensor has more. Throws
/// kInvalidArgument where nothing would be quantised.
PackPlan plan_pack(
    const SafetensorsFolder& model,
    const MlxQuantized& kind,
    Bytes most = Bytes(5'000'000'000));

} // namespace holdfast
