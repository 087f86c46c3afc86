// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tensors of a model folder, mapped where they lie. Its files are those
// that model.safetensors.index.json names, each tensor in the file that it
// names; without one, model.safetensors, or model-00001-of-0000N.safetensors
// with all of its N. Other *.safetensors files are none of the model's.
//
// Everything is checked at open: headers against sizes, no tensor twice, none
// that the index misses or puts elsewhere, no file outside the folder
// (file_in_folder.h). Errors are one line that names the file. Any thread.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/env/mapped_file.h"
#include "holdfast/formats/safetensors.h"

namespace holdfast {

class SafetensorsFolder {
 public:
  struct Shard {
    std::string name; // "model.safetensors"
    std::string shown; // the same behind the folder, for people
    MappedFile file;
  };
  struct Tensor {
    StoredTensor stored;
    const Shard* shard;

    /// The bytes in the mapping; of no alignment.
    std::span<const std::byte> bytes() const;
    /// Gives their pages back.
    void drop() const;
  };
  using Tensors = std::map<std::string, Tensor, std::less<>>;

  /// kNotFound where the folder has no such file, kCorrupt, kIo.
  static Result<SafetensorsFolder> open(const std::string& folder);

  const Tensors& tensors() const {
    return tensors_;
  }
  /// By name.
  const std::vector<std::unique_ptr<const Shard>>& shards() const {
    return shards_;
  }

 private:
  SafetensorsFolder() = default;
  void add(const std::string& folder, const std::string& name);

  std::vector<std::unique_ptr<const Shard>> shards_;
  Tensors tensors_;
};

} // namespace holdfast
