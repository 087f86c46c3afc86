// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/adapter.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "holdfast/base/quoted_text.h"
#include "holdfast/base/sha256.h"
#include "holdfast/engine/mlx_quantization.h"
#include "holdfast/env/folder_file.h"
#include "holdfast/env/posix_file_system.h"

namespace holdfast {

namespace {

constexpr const char* kConfig = "adapter_config.json";
constexpr int64_t kLargestConfig = int64_t{16} << 20;
constexpr int64_t kLargestTensors = int64_t{16} << 30;

std::vector<std::byte>
read_whole(const std::string& folder, const char* name, int64_t most) {
  const std::string path = file_in_folder(folder, name).value();
  const auto file =
      posix_file_system()->open(path, FileSystem::Access::kRead).value();
  const int64_t size = file->facts().value().size.get();
  if (size > most) {
    throw Error(
        ErrorCode::kCorrupt,
        folder + "/" + name + ": expected at most " +
            std::to_string(most >> 20) + " MiB, got " + std::to_string(size) +
            " bytes");
  }
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  if (size > 0) {
    file->read(Bytes(0), bytes).check();
  }
  return bytes;
}

/// The settings, and the line of their file in the digest.
AdapterConfig read_config(const std::string& folder, std::string& line) {
  const auto bytes = read_whole(folder, kConfig, kLargestConfig);
  line = sha256(bytes).hex() + " " + kConfig + "\n";
  return AdapterConfig::parse(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
      folder + "/" + kConfig);
}

/// Of a tensor: what tells its kind stands at the end of a long name.
std::string shown(std::string_view name) {
  constexpr size_t kPiece = 64; // all of it is escaped
  constexpr size_t kMost = 4 * kPiece;
  std::string text;
  for (size_t at = 0; at < std::min(name.size(), kMost); at += kPiece) {
    text += escaped_text(name.substr(at, kPiece));
  }
  return name.size() > kMost ? text + "..." : text;
}

/// How a layout names a module's two tensors.
struct Naming {
  std::string_view before;
  std::string_view down;
  std::string_view up;
};

const Naming& naming_of(AdapterConfig::Layout layout) {
  static constexpr Naming kPeft{
      "base_model.model.", ".lora_A.weight", ".lora_B.weight"};
  static constexpr Naming kMlx{"", ".lora_a", ".lora_b"};
  return layout == AdapterConfig::Layout::kPeft ? kPeft : kMlx;
}

} // namespace

Adapter::Adapter(const std::string& folder)
    : config_(read_config(folder, digest_)) {
  const char* name = config_.tensor_file();
  where_ = folder + "/" + name;
  const auto other = file_in_folder(folder, config_.other_tensor_file());
  if (other.status().code() != ErrorCode::kNotFound) {
    throw Error(
        ErrorCode::kCorrupt,
        where_ + ": expected it alone, as adapter_config.json is of its " +
            "layout, got " + config_.other_tensor_file() + " beside it");
  }
  bytes_ = read_whole(folder, name, kLargestTensors);
  digest_ += sha256(bytes_).hex() + " " + name + "\n";
  digest_ = sha256(std::string_view(digest_)).hex();
  const auto header = parse_safetensors(bytes_, where_).value();
  for (const auto& [tensor, stored] : header.tensors) {
    add(tensor, stored);
  }
  if (parts_.empty()) {
    throw Error(
        ErrorCode::kCorrupt,
        where_ + ": expected the tensors of at least one matrix, got none");
  }
  for (auto& [module, part] : parts_) {
    require_pair(part);
    part.change = config_.change_of(part.module);
  }
}

Error Adapter::refusal(
    std::string_view tensor,
    const std::string& expected,
    const std::string& got,
    ErrorCode code) const {
  std::string text = where_ + ": tensor ";
  text.append(shown(tensor)).append(": expected ").append(expected);
  return {code, text.append(", got ").append(got)};
}

void Adapter::add(const std::string& name, const StoredTensor& stored) {
  const Naming& naming = naming_of(config_.layout());
  std::string_view module = name;
  const bool begins = module.starts_with(naming.before);
  module.remove_prefix(begins ? naming.before.size() : 0);
  const bool down = module.ends_with(naming.down);
  if (!begins || !(down || module.ends_with(naming.up))) {
    throw refusal(
        name,
        std::string(naming.before) + "MODULE" + std::string(naming.down) +
            " or " + std::string(naming.up) +
            " (no DoRA, no embeddings, biases or modules saved whole)",
        "another name",
        ErrorCode::kUnsupported);
  }
  module.remove_suffix((down ? naming.down : naming.up).size());
  Part& part = parts_[canonical_name(module)];
  Factor& factor = down ? part.down : part.up;
  if (!factor.name.empty()) {
    throw refusal(name, "each matrix once", shown(factor.name) + " beside it");
  }
  factor = {.name = name, .stored = stored};
  part.module = module;
}

void Adapter::require_pair(const Part& part) const {
  const Naming& naming = naming_of(config_.layout());
  if (part.down.name.empty() || part.up.name.empty()) {
    const bool down = part.up.name.empty();
    throw refusal(
        (down ? part.down : part.up).name,
        "a tensor MODULE" + std::string(down ? naming.up : naming.down) +
            " beside it",
        "none");
  }
  for (const Factor* factor : {&part.down, &part.up}) {
    if (!is_float(factor->stored.type)) {
      throw refusal(
          factor->name,
          "BF16, F16 or F32",
          factor->stored.type_name,
          ErrorCode::kUnsupported);
    }
    if (factor->stored.shape.size() != 2) {
      throw refusal(
          factor->name,
          "a matrix (no stacks of experts)",
          "shape " + shape_text(factor->stored.shape),
          ErrorCode::kUnsupported);
    }
  }
}

void Adapter::require_layers(int64_t layers) const {
  for (const auto& [module, part] : parts_) {
    config_.require_layer(part.module, layers);
  }
}

Adapter::Values Adapter::down(const Part& part, int64_t k) const {
  const bool turned = config_.layout() == AdapterConfig::Layout::kMlx;
  return read(part.down, {part.change.rank, k}, turned);
}

Adapter::Values Adapter::up(const Part& part, int64_t n) const {
  const bool turned = config_.layout() == AdapterConfig::Layout::kMlx;
  return read(part.up, {n, part.change.rank}, turned);
}

/// `shape`: of the result; turned: the file has the columns as rows.
Adapter::Values Adapter::read(
    const Factor& factor,
    const std::vector<int64_t>& shape,
    bool turned) const {
  const int64_t rows = shape[0];
  const int64_t columns = shape[1];
  const std::vector<int64_t> stored =
      turned ? std::vector<int64_t>{columns, rows} : shape;
  if (factor.stored.shape != stored) {
    throw refusal(
        factor.name,
        "shape " + shape_text(stored) +
            " (of the adapter's rank and the model's "
            "matrix)",
        shape_text(factor.stored.shape));
  }
  std::vector<float> values(static_cast<size_t>(rows * columns));
  read_tensor_floats(
      factor.stored.type,
      bytes_.data() + factor.stored.offset.get(),
      std::ssize(values),
      values.data());
  for (const float value : values) {
    if (!std::isfinite(value)) {
      throw refusal(factor.name, "finite numbers", std::to_string(value));
    }
  }
  Values result{.rows = {}, .halves = factor.stored.type == TensorType::kBF16};
  if (!turned) {
    result.rows = std::move(values);
    return result;
  }
  result.rows.resize(values.size());
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      result.rows[static_cast<size_t>(row * columns + column)] =
          values[static_cast<size_t>(column * rows + row)];
    }
  }
  return result;
}

} // namespace holdfast
