// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/safetensors.h"

#include <algorithm>

#include "holdfast/base/bits.h"
#include "holdfast/formats/gguf_array.h"

namespace holdfast {

namespace {

constexpr int64_t kPiece = int64_t{1} << 20;

} // namespace

Result<std::unique_ptr<SafetensorsFile>>
SafetensorsFile::open(FileSystem& files, const std::string& path) {
  Result<std::unique_ptr<File>> opened =
      files.open(path, FileSystem::Access::kRead);
  if (!opened.ok()) {
    return opened.status();
  }
  std::unique_ptr<SafetensorsFile> result(new SafetensorsFile);
  result->file_ = std::move(opened).value();
  const Result<FileFacts> facts = result->file_->facts();
  if (!facts.ok()) {
    return facts.status();
  }
  const Bytes size = result->size_ = facts.value().size;
  uint64_t length = 0;
  if (size >= Bytes(sizeof(length))) {
    const std::span into(reinterpret_cast<std::byte*>(&length), sizeof(length));
    if (Status status = result->file_->read(Bytes(0), into); !status.ok()) {
      return status;
    }
  }
  const int64_t room = size.get() - static_cast<int64_t>(sizeof(length));
  if (room < 2 || length > static_cast<uint64_t>(room) ||
      length > kMostSafetensorsHeader) {
    return Status(
        ErrorCode::kCorrupt,
        path + ": expected a header of at most 16 MiB within the file, got " +
            std::to_string(length) + " bytes of " + std::to_string(size.get()));
  }
  std::string json(static_cast<size_t>(length), '\0');
  if (Status status = result->file_->read(
          Bytes(sizeof(length)), std::as_writable_bytes(std::span(json)));
      !status.ok()) {
    return status;
  }
  auto header = parse_safetensors_header(json, size, path);
  if (!header.ok()) {
    return header.status();
  }
  result->header_ = std::move(header).value();
  return result;
}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
  const auto found = header_.tensors.find(name);
  return found == header_.tensors.end() ? nullptr : &found->second;
}

Result<Digest256> SafetensorsFile::digest() const {
  Sha256 sha;
  std::vector<std::byte> piece(kPiece);
  for (Bytes at; at < size_;) {
    const Bytes count = std::min(size_ - at, Bytes(kPiece));
    const auto bytes = std::span(piece).first(static_cast<size_t>(count.get()));
    if (Status status = file_->read(at, bytes); !status.ok()) {
      return status;
    }
    sha.add(bytes);
    at += count;
  }
  return sha.finish();
}

Result<std::vector<std::byte>>
SafetensorsFile::read(const StoredTensor& tensor) const {
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes.get()));
  if (bytes.empty()) {
    return bytes;
  }
  Status status = file_->read(tensor.offset, bytes);
  return status.ok() ? Result<std::vector<std::byte>>(std::move(bytes))
                     : status;
}

Result<std::vector<float>>
SafetensorsFile::read_floats(const StoredTensor& tensor) const {
  if (!is_float(tensor.type)) {
    return Status(
        ErrorCode::kUnsupported,
        path() + ": expected a tensor of F32, F16 or BF16, got " +
            tensor.type_name);
  }
  const auto bytes = read(tensor);
  if (!bytes.ok()) {
    return bytes.status();
  }
  std::vector<float> floats(static_cast<size_t>(tensor.elements()));
  read_tensor_floats(
      tensor.type, bytes.value().data(), std::ssize(floats), floats.data());
  return floats;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text.append(i == 0 ? "" : ", ").append(std::to_string(shape[i]));
  }
  return text + "]";
}

bool is_float(TensorType type) {
  return type == TensorType::kF32 || type == TensorType::kF16 ||
      type == TensorType::kBF16;
}

void read_tensor_floats(
    TensorType type,
    const std::byte* from,
    int64_t count,
    float* floats) {
  if (type == TensorType::kF32) {
    std::copy_n(from, 4 * count, reinterpret_cast<std::byte*>(floats));
    return;
  }
  const bool f16 = type == TensorType::kF16;
  for (int64_t i = 0; i < count; ++i) {
    const auto half = load_unaligned<uint16_t>(from + 2 * i);
    floats[i] = f16 ? f16_to_f32(half) : bf16_to_f32(half);
  }
}

} // namespace holdfast
