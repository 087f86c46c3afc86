// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/gguf.h"

#include <algorithm>
#include <utility>

#include "holdfast/base/quoted_text.h"
#include "holdfast/formats/gguf_cursor.h"
#include "holdfast/formats/gguf_parser.h"
#include "holdfast/formats/gguf_parts.h"

namespace holdfast {

namespace {

const char* name_of(GgufValue type) {
  return gguf_value_name(static_cast<uint32_t>(type));
}

/// "U32", or "an array of U32".
std::string describe(const GgufKey& key) {
  return key.type == GgufValue::kArray
      ? std::string("an array of ") + name_of(key.element)
      : std::string(name_of(key.type));
}

} // namespace

Result<GgufFile> GgufFile::open(const std::string& path) {
  try {
    return GgufParts::open(path);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

Result<GgufFile>
GgufFile::parse(std::span<const std::byte> bytes, std::string name) {
  GgufFile file;
  file.bytes_ = bytes;
  file.name_ = std::move(name);
  try {
    GgufParser(file).parse();
    GgufParts::require_whole(file);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
  return file;
}

int64_t GgufFile::size() const {
  auto size = static_cast<int64_t>(bytes_.size());
  for (const GgufFile& part : rest_) {
    size += part.size();
  }
  return size;
}

int64_t GgufFile::data_bytes() const {
  // A part without tensors may end before it is aligned.
  const auto end = static_cast<int64_t>(bytes_.size());
  int64_t bytes = std::max<int64_t>(0, end - data_offset_);
  for (const GgufFile& part : rest_) {
    bytes += part.data_bytes();
  }
  return bytes;
}

const GgufKey* GgufFile::find(std::string_view key) const {
  const auto at = std::lower_bound(
      keys_.begin(), keys_.end(), key, [](const GgufKey& a, auto b) {
        return a.name < b;
      });
  return at != keys_.end() && at->name == key ? &*at : nullptr;
}

const GgufKey* GgufFile::find(std::string_view key, GgufValue type) const {
  const GgufKey* found = find(key);
  if (found != nullptr && found->type != type) {
    throw refusal(key, name_of(type), describe(*found));
  }
  return found;
}

const GgufKey*
GgufFile::find_array(std::string_view key, const char* expected) const {
  const GgufKey* found = find(key);
  if (found != nullptr && found->type != GgufValue::kArray) {
    throw refusal(key, expected, describe(*found));
  }
  return found;
}

std::optional<int64_t> GgufFile::integer(std::string_view key) const {
  const GgufKey* found = find(key);
  if (found == nullptr) {
    return std::nullopt;
  }
  const std::byte* at = bytes_.data() + found->offset;
  switch (found->type) {
    case GgufValue::kU64: {
      const auto value = load_unaligned<uint64_t>(at);
      if (value > INT64_MAX) {
        throw refusal(
            key, "at most 9223372036854775807", std::to_string(value));
      }
      return static_cast<int64_t>(value);
    }
    case GgufValue::kF32:
    case GgufValue::kF64:
    case GgufValue::kBool:
    case GgufValue::kString:
    case GgufValue::kArray:
      throw refusal(key, "an integer", describe(*found));
    default:
      return GgufIntegers(at, 1, found->type)[0];
  }
}

std::optional<double> GgufFile::number(std::string_view key) const {
  const GgufKey* found = find(key);
  if (found == nullptr) {
    return std::nullopt;
  }
  const std::byte* at = bytes_.data() + found->offset;
  if (found->type == GgufValue::kF32) {
    return load_unaligned<float>(at);
  }
  if (found->type == GgufValue::kF64) {
    return load_unaligned<double>(at);
  }
  throw refusal(key, "F32 or F64", describe(*found));
}

std::optional<bool> GgufFile::boolean(std::string_view key) const {
  const GgufKey* found = find(key, GgufValue::kBool);
  if (found == nullptr) {
    return std::nullopt;
  }
  return bytes_[static_cast<size_t>(found->offset)] != std::byte{0};
}

std::optional<std::string_view> GgufFile::text(std::string_view key) const {
  const GgufKey* found = find(key, GgufValue::kString);
  if (found == nullptr) {
    return std::nullopt;
  }
  return *GgufStrings(bytes_.subspan(static_cast<size_t>(found->offset)), 1)
              .begin();
}

std::optional<GgufStrings> GgufFile::texts(std::string_view key) const {
  const char* expected = "an array of STRING";
  const GgufKey* found = find_array(key, expected);
  if (found == nullptr) {
    return std::nullopt;
  }
  if (found->element != GgufValue::kString) {
    throw refusal(key, expected, describe(*found));
  }
  return GgufStrings(
      bytes_.subspan(static_cast<size_t>(found->offset)), found->count);
}

std::optional<GgufFloats> GgufFile::numbers(std::string_view key) const {
  const char* expected = "an array of F32";
  const GgufKey* found = find_array(key, expected);
  if (found == nullptr) {
    return std::nullopt;
  }
  if (found->element != GgufValue::kF32) {
    throw refusal(key, expected, describe(*found));
  }
  return GgufFloats(bytes_.data() + found->offset, found->count);
}

std::optional<GgufIntegers> GgufFile::integers(std::string_view key) const {
  const char* expected = "an array of integers";
  const GgufKey* found = find_array(key, expected);
  if (found == nullptr) {
    return std::nullopt;
  }
  switch (found->element) {
    case GgufValue::kU64:
    case GgufValue::kF32:
    case GgufValue::kF64:
    case GgufValue::kString:
    case GgufValue::kArray:
      throw refusal(key, expected, describe(*found));
    default:
      return GgufIntegers(
          bytes_.data() + found->offset, found->count, found->element);
  }
}

const GgufTensor* GgufFile::tensor(std::string_view name) const {
  const auto at = std::lower_bound(
      by_name_.begin(), by_name_.end(), name, [this](uint32_t index, auto b) {
        return tensors_[index].name < b;
      });
  return at != by_name_.end() && tensors_[*at].name == name ? &tensors_[*at]
                                                            : nullptr;
}

Error GgufFile::refusal(
    std::string_view key,
    std::string_view expected,
    std::string_view got) const {
  const GgufKey* found = find(key);
  if (found != nullptr) {
    return Error(
        ErrorCode::kCorrupt,
        gguf_complaint(name_, escaped_text(key), found->offset, expected, got));
  }
  std::string text = name_;
  text.append(": ")
      .append(escaped_text(key))
      .append(": expected ")
      .append(expected);
  return Error(ErrorCode::kCorrupt, text.append(", got ").append(got));
}

} // namespace holdfast
