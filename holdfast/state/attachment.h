// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What travels with a snapshot beside keys and values: encoder features, draft
// state, a sampler. Plain memory that nothing else shares, so that writers on
// any thread may read it. Values; settle() on the engine thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mlx/array.h"
#include "mlx/utils.h"

#include "holdfast/base/strong.h"

namespace holdfast {

/// A row-contiguous array.
struct AttachedArray {
  std::string name;
  mlx::core::Dtype dtype = mlx::core::uint8;
  std::vector<int32_t> shape;
  std::vector<std::byte> bytes;

  /// A copy as MLX's, evaluated on the stream. Throws kInvalidArgument where
  /// the bytes are not those of the shape.
  mlx::core::array array(mlx::core::StreamOrDevice stream = {}) const;
};

struct Attachment {
  std::string name;
  std::string schema; // what its arrays mean: "encoder-features.1"
  std::map<std::string, std::string> metadata = {};
  std::vector<AttachedArray> arrays = {};

  Bytes bytes() const; // of the arrays, the names and the metadata
};

/// Evaluates the array and copies it, so that it pins neither a graph nor a
/// parent.
AttachedArray settle(
    std::string name,
    const mlx::core::array& array,
    mlx::core::StreamOrDevice stream = {});

} // namespace holdfast
