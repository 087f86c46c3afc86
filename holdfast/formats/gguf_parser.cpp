// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/gguf_parser.h"

#include "holdfast/base/quoted_text.h"

#include <algorithm>
#include <bit>

namespace holdfast {

namespace {

constexpr uint32_t kMagic = 0x46554747; // "GGUF"
// The smallest entries: a 1-byte name, a type and a 1-byte value; a 1-byte
// name, one dimension, a type and an offset.
constexpr uint64_t kSmallestKey = 8 + 1 + 4 + 1;
constexpr uint64_t kSmallestTensor = 8 + 1 + 4 + 8 + 4 + 8;

} // namespace

void GgufParser::parse() {
  read_header();
  for (uint64_t i = 0; i < key_count_; ++i) {
    read_key();
  }
  sort_keys();
  read_alignment();
  for (uint64_t i = 0; i < tensor_count_; ++i) {
    read_tensor();
  }
  place_tensors();
  index_tensors();
}

void GgufParser::read_header() {
  const auto magic = cursor_.read<uint32_t>("GGUF.magic");
  if (magic != kMagic) {
    const std::string_view got(
        reinterpret_cast<const char*>(file_.bytes_.data()), 4);
    cursor_.corrupt("GGUF.magic", 0, "\"GGUF\"", quoted_text(got));
  }
  const auto version = cursor_.read<uint32_t>("GGUF.version");
  if (version != 2 && version != 3) {
    const bool big = version == 2u << 24 || version == 3u << 24;
    cursor_.unsupported(
        "GGUF.version",
        4,
        "2 or 3, little-endian",
        big ? "a big-endian file" : std::to_string(version));
  }
  file_.version_ = static_cast<int>(version);
  tensor_count_ = read_count("GGUF.tensor_count", kSmallestTensor, kMaxTensors);
  key_count_ = read_count("GGUF.kv_count", kSmallestKey, kMaxKeys);
}

uint64_t
GgufParser::read_count(const char* field, uint64_t smallest, uint64_t limit) {
  const int64_t offset = cursor_.offset();
  const auto count = cursor_.read<uint64_t>(field);
  const uint64_t most = std::min(limit, cursor_.left() / smallest);
  if (count > most) {
    cursor_.corrupt(
        field,
        offset,
        "at most " + std::to_string(most) +
            (most == limit ? "" : ", as fit in the file"),
        std::to_string(count));
  }
  return count;
}

void GgufParser::read_key() {
  const std::string ordinal =
      "metadata key " + std::to_string(file_.keys_.size());
  const int64_t start = cursor_.offset();
  GgufKey key;
  key.name = cursor_.read_string(ordinal);
  if (key.name.empty() || key.name.size() > 65535) {
    cursor_.corrupt(
        ordinal,
        start,
        "a name of 1 to 65535 bytes",
        std::to_string(key.name.size()) + " bytes");
  }
  read_value(key);
  file_.keys_.push_back(key);
}

void GgufParser::read_value(GgufKey& key) {
  const int64_t start = cursor_.offset();
  const auto type = cursor_.read<uint32_t>(escaped_text(key.name), " (type)");
  if (gguf_value_name(type) == nullptr) {
    cursor_.corrupt(
        escaped_text(key.name) + " (type)",
        start,
        "a value type of 0 to 12",
        std::to_string(type));
  }
  key.type = key.element = static_cast<GgufValue>(type);
  if (key.type == GgufValue::kArray) {
    return read_array(key);
  }
  key.offset = cursor_.offset();
  if (key.type == GgufValue::kString) {
    cursor_.read_string(escaped_text(key.name));
    return;
  }
  cursor_.skip(
      static_cast<uint64_t>(gguf_value_bytes(type)), escaped_text(key.name));
  check_booleans(key);
}

void GgufParser::read_array(GgufKey& key) {
  const std::string name = escaped_text(key.name);
  const int64_t start = cursor_.offset();
  const auto element = cursor_.read<uint32_t>(name, " (element type)");
  if (element == static_cast<uint32_t>(GgufValue::kArray)) {
    cursor_.unsupported(
        name + " (element type)", start, "plain values", "arrays in an array");
  }
  if (gguf_value_name(element) == nullptr) {
    cursor_.corrupt(
        name + " (element type)",
        start,
        "a value type of 0 to 12",
        std::to_string(element));
  }
  key.element = static_cast<GgufValue>(element);
  const bool strings = key.element == GgufValue::kString;
  const uint64_t size =
      strings ? 8 : static_cast<uint64_t>(gguf_value_bytes(element));
  const auto count = cursor_.read<uint64_t>(name, " (count)");
  if (count > cursor_.left() / size) {
    cursor_.corrupt(
        name + " (count)",
        start + 4,
        "at most " + std::to_string(cursor_.left() / size) +
            " elements, as fit in the file",
        std::to_string(count));
  }
  key.count = static_cast<int64_t>(count);
  key.offset = cursor_.offset();
  if (!strings) {
    cursor_.skip(count * size, name);
    return check_booleans(key);
  }
  for (uint64_t i = 0; i < count; ++i) {
    cursor_.read_string(name, " (a string of the array)");
  }
}

void GgufParser::check_booleans(const GgufKey& key) const {
  if (key.element != GgufValue::kBool) {
    return;
  }
  for (int64_t i = 0; i < key.count; ++i) {
    const auto value = static_cast<unsigned>(
        file_.bytes_[static_cast<size_t>(key.offset + i)]);
    if (value > 1) {
      cursor_.corrupt(
          escaped_text(key.name),
          key.offset + i,
          "a boolean of 0 or 1",
          std::to_string(value));
    }
  }
}

void GgufParser::sort_keys() {
  std::vector<GgufKey>& keys = file_.keys_;
  std::sort(keys.begin(), keys.end(), [](const GgufKey& a, const GgufKey& b) {
    return a.name != b.name ? a.name < b.name : a.offset < b.offset;
  });
  const auto twin = std::adjacent_find(
      keys.begin(), keys.end(), [](const GgufKey& a, const GgufKey& b) {
        return a.name == b.name;
      });
  if (twin != keys.end()) {
    cursor_.corrupt(
        escaped_text(twin->name),
        twin[1].offset,
        "a key once",
        "it again, first at offset " + std::to_string(twin->offset));
  }
}

void GgufParser::read_alignment() {
  constexpr std::string_view kKey = "general.alignment";
  const int64_t alignment = file_.integer(kKey).value_or(32);
  if (alignment < 8 || alignment > int64_t{1} << 30 ||
      !std::has_single_bit(static_cast<uint64_t>(alignment))) {
    cursor_.corrupt(
        kKey,
        file_.find(kKey)->offset,
        "a power of two from 8 to 2^30",
        std::to_string(alignment));
  }
  file_.alignment_ = alignment;
}

} // namespace holdfast
