// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/safetensors_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include "holdfast/base/bits.h"

namespace holdfast {

namespace {

constexpr int64_t kAlignment = 8; // of the data, as the format asks for

} // namespace

Bytes TensorToWrite::bytes() const {
  int64_t count = item;
  for (const int64_t size : shape) {
    count *= size;
  }
  return Bytes(count);
}

Result<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::create(
    FileSystem& files,
    const std::string& path,
    std::vector<TensorToWrite> tensors) {
  std::ranges::stable_sort(tensors, std::greater<>(), &TensorToWrite::item);
  std::unique_ptr<SafetensorsWriter> writer(new SafetensorsWriter);
  nlohmann::ordered_json header;
  header["__metadata__"]["format"] = "mlx";
  Bytes end;
  for (const TensorToWrite& tensor : tensors) {
    const Bytes begin = std::exchange(end, end + tensor.bytes());
    header[tensor.name] = {
        {"dtype", tensor.type},
        {"shape", tensor.shape},
        {"data_offsets", {begin.get(), end.get()}}};
    writer->places_[tensor.name] = {begin, tensor.bytes()};
  }
  std::string text = header.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize(static_cast<size_t>(round_up(std::ssize(text), kAlignment)), ' ');
  std::string bytes(sizeof(uint64_t), '\0');
  const uint64_t length = text.size();
  std::memcpy(bytes.data(), &length, sizeof(length));
  bytes += text;
  for (auto& [name, place] : writer->places_) {
    place.offset += Bytes(std::ssize(bytes));
  }
  Result<std::unique_ptr<File>> file = files.create(path);
  if (!file.ok()) {
    return file.status();
  }
  writer->file_ = std::move(file).value();
  // The size is that of the whole from the beginning, also where the last
  // tensors have no bytes.
  Status status = writer->file_->truncate(Bytes(std::ssize(bytes)) + end);
  if (status.ok()) {
    status = writer->file_->write(Bytes(0), std::as_bytes(std::span(bytes)));
  }
  if (!status.ok()) {
    return status;
  }
  return writer;
}

Status SafetensorsWriter::write(
    std::string_view name,
    Bytes at,
    std::span<const std::byte> bytes) {
  const auto place = places_.find(name);
  const Bytes count(std::ssize(bytes));
  if (place == places_.end() || at < Bytes(0) ||
      count > place->second.bytes - at) {
    return {
        ErrorCode::kInvalidArgument,
        file_->path() + ": expected bytes of one of its tensors, got some of " +
            std::string(name)};
  }
  return file_->write(place->second.offset + at, bytes);
}

Status SafetensorsWriter::finish() {
  return file_->sync();
}

} // namespace holdfast
