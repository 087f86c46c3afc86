// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/record_body.h"

#include <span>
#include <type_traits>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/base/field_reader.h"
#include "holdfast/tier/little_endian.h"

namespace holdfast {

namespace {

constexpr std::string_view kMagic = "HoFbody"; // then a byte: the encoding
constexpr char kEncoding = 1;
constexpr int64_t kPartBytes = 128; // of its place in a map, about

template <class T>
void put(std::string& to, std::type_identity_t<T> value) {
  std::byte bytes[sizeof(T)];
  store_le<T>(bytes, 0, value);
  to.append(reinterpret_cast<const char*>(bytes), sizeof(T));
}

/// The parts behind the magic. Throws Error (kCorrupt, kUnsupported).
std::map<std::string, RecordBody::Part, std::less<>>
parts_in(std::string_view bytes) {
  std::map<std::string, RecordBody::Part, std::less<>> parts;
  FieldReader in(bytes, "[record] ");
  in.text(kMagic.size(), "magic");
  in.known<uint8_t>(kEncoding, "encoding of the body");
  const auto count = in.number<uint32_t>("parts", 1, RecordBody::kMaxParts);
  for (uint32_t i = 0; i < count; ++i) {
    const auto name_bytes =
        in.number<uint8_t>("length of a part's name", 1, UINT8_MAX);
    const FieldPlace named = in.place("name of a part");
    const std::string_view name = in.text(name_bytes, named.field);
    if (!parts.empty() && name <= parts.rbegin()->first) {
      in.refuse(named, "one behind the part before", "another");
    }
    RecordBody::Part part;
    part.version = in.number<uint32_t>("version of a part");
    const auto size = in.number<uint64_t>("length of a part");
    part.bytes = in.text(size, "bytes of a part");
    parts.emplace_hint(parts.end(), name, std::move(part));
  }
  in.end("bytes behind the last part");
  return parts;
}

} // namespace

RecordBody& RecordBody::set(std::string_view name, Part part) {
  expect(
      !name.empty() && name.size() <= kMaxNameBytes,
      "[RecordBody] expected a name of 1 to 255 bytes, got another");
  expect(
      parts_.size() < kMaxParts || parts_.contains(name),
      "[RecordBody] expected at most 4096 parts, got more");
  parts_.insert_or_assign(std::string(name), std::move(part));
  return *this;
}

const RecordBody::Part* RecordBody::find(std::string_view name) const {
  const auto at = parts_.find(name);
  return at == parts_.end() ? nullptr : &at->second;
}

bool RecordBody::remove(std::string_view name) {
  const auto at = parts_.find(name);
  if (at == parts_.end()) {
    return false;
  }
  parts_.erase(at);
  return true;
}

Bytes RecordBody::bytes() const {
  size_t sum = 0;
  for (const auto& [name, part] : parts_) {
    sum += name.size() + part.bytes.size() + kPartBytes;
  }
  return Bytes(static_cast<int64_t>(sum));
}

std::string RecordBody::encode() const {
  std::string bytes;
  if (parts_.empty()) {
    return bytes;
  }
  bytes += kMagic;
  bytes += kEncoding;
  put<uint32_t>(bytes, static_cast<uint32_t>(parts_.size()));
  for (const auto& [name, part] : parts_) {
    put<uint8_t>(bytes, static_cast<uint8_t>(name.size()));
    bytes += name;
    put<uint32_t>(bytes, part.version);
    put<uint64_t>(bytes, part.bytes.size());
    bytes += part.bytes;
  }
  return bytes;
}

Result<RecordBody> RecordBody::parse(std::string_view bytes) {
  RecordBody body;
  if (bytes.empty()) {
    return body;
  }
  if (!bytes.starts_with(kMagic)) {
    return Status(
        ErrorCode::kCorrupt,
        "[record] expected a record's body, got other bytes");
  }
  try {
    body.parts_ = parts_in(bytes);
    return body;
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
