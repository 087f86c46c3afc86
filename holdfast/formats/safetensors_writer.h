// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Writes a safetensors file whose tensors are known before their bytes are: the
// header goes first, then each tensor's bytes in any order and in pieces. The
// largest elements lie first, so that every tensor is aligned to its own.
// Threads: write() from any, for bytes that do not overlap.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/env/file_system.h"

namespace holdfast {

struct TensorToWrite {
  std::string name;
  std::string type; // "BF16"
  int64_t item = 0; // bytes of an element
  std::vector<int64_t> shape;

  Bytes bytes() const;
};

class SafetensorsWriter {
 public:
  /// Makes the file and writes its header. Names are each there once.
  static Result<std::unique_ptr<SafetensorsWriter>> create(
      FileSystem& files,
      const std::string& path,
      std::vector<TensorToWrite> tensors);

  /// From byte `at` of the tensor on. kInvalidArgument beyond its end.
  Status
  write(std::string_view name, Bytes at, std::span<const std::byte> bytes);
  /// Returns when all is on the device.
  Status finish();

 private:
  struct Place {
    Bytes offset;
    Bytes bytes;
  };
  SafetensorsWriter() = default;

  std::unique_ptr<File> file_;
  std::map<std::string, Place, std::less<>> places_;
};

} // namespace holdfast
