// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Prompt caches that mlx-lm saves: a list of layers' caches in one safetensors
// file. Two layouts: 0.32.2's, whose numbers are tensors and whose buffers have
// room behind the offset, and 0.32.0's and before, whose numbers are texts of
// the metadata. Reads facts; tensors stay in the file.
//
// Refused, naming the layer: classes that are none of these, more than one
// sequence, left padding, numbers and shapes that contradict each other.
// Values; any thread.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/formats/safetensors.h"

namespace holdfast {

struct MlxLayerCache {
  enum class Kind {
    kKeysValues, // keys, values [1, heads, room, dim]
    kQuantized, // of each codes, scales, biases
    kRotating, // keys, values in a ring behind the first `keep`
    kArrays, // two tensors, of a recurrent layer
  };
  Kind kind = Kind::kKeysValues;
  std::string class_name;
  Position offset; // positions seen; of kArrays it is not in the file
  int64_t group_size = 0; // quantized
  int64_t bits = 0;
  int64_t keep = 0; // rotating
  int64_t max_size = 0;
  int64_t next = 0; // where the ring goes on
  /// Keys then values (of quantized ones three each), or the two arrays. Part
  /// of the file's header, alive as long as it.
  std::vector<const StoredTensor*> tensors;

  /// Slots of the buffers, [heads, room, dim of keys, dim of values].
  int64_t heads() const;
  int64_t room() const;
  int64_t dim(bool values) const;
  /// Slots of the buffers in the order of their positions, the last one that of
  /// offset - 1. Not of kArrays.
  std::vector<int64_t> slots() const;
};

struct MlxCache {
  std::vector<MlxLayerCache> layers;
  std::map<std::string, std::string> metadata; // the user's
};

Result<MlxCache> read_mlx_cache(const SafetensorsFile& file);

/// The values of a layer's keys or values, [heads][room][dim], dequantized
/// where they are quantized.
Result<std::vector<float>> read_mlx_channel(
    const SafetensorsFile& file,
    const MlxLayerCache& layer,
    bool values);

} // namespace holdfast
