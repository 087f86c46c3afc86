// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Safetensors files of others: which tensors lie where. A 64-bit length, a JSON
// header of that many bytes, then the tensors' bytes.
//
// The header is never trusted: types and shapes must give the bytes that it
// names, which must lie within the file and overlap nowhere; whatever is no
// part of the format is refused. Memory is a small multiple of the header,
// which has 16 MiB at most. Values; a file may be read from any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/sha256.h"
#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/env/file_system.h"

namespace holdfast {

/// Longer headers are refused.
inline constexpr uint64_t kMostSafetensorsHeader = uint64_t{16} << 20;

enum class TensorType { kF32, kF16, kBF16, kU32, kI32, kI64, kBool, kOther };

struct StoredTensor {
  TensorType type = TensorType::kOther;
  std::string type_name; // "BF16"
  std::vector<int64_t> shape; // empty: one element
  Bytes offset; // in the file
  Bytes bytes;

  int64_t elements() const;
};

struct SafetensorsHeader {
  std::map<std::string, StoredTensor, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> metadata;
};

/// "[2, 3]", for people.
std::string shape_text(const std::vector<int64_t>& shape);

/// `count` values as floats, out of bytes of any alignment. For F32, F16, BF16.
void read_tensor_floats(
    TensorType type,
    const std::byte* from,
    int64_t count,
    float* floats);
/// Whether they can be read so.
bool is_float(TensorType type);

/// json: the header without its length. kCorrupt, in one line that names
/// `file`.
Result<SafetensorsHeader> parse_safetensors_header(
    std::string_view json,
    Bytes file_bytes,
    std::string_view file);

/// The same of a whole file that lies in memory.
Result<SafetensorsHeader>
parse_safetensors(std::span<const std::byte> bytes, std::string_view file);

class SafetensorsFile {
 public:
  static Result<std::unique_ptr<SafetensorsFile>>
  open(FileSystem& files, const std::string& path);

  const SafetensorsHeader& header() const {
    return header_;
  }
  const std::string& path() const {
    return file_->path();
  }
  /// Null where there is none.
  const StoredTensor* find(std::string_view name) const;
  /// SHA-256 of the file.
  Result<Digest256> digest() const;
  Result<std::vector<std::byte>> read(const StoredTensor& tensor) const;
  /// The same as floats; kUnsupported for other than f32, f16, bf16.
  Result<std::vector<float>> read_floats(const StoredTensor& tensor) const;

 private:
  SafetensorsFile() = default;
  std::unique_ptr<File> file_;
  Bytes size_;
  SafetensorsHeader header_;
};

} // namespace holdfast
