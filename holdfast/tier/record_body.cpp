// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/record_body.h"

#include <span>
#include <type_traits>
#include <utility>

#include "holdfast/base/check.h"
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

/// Bytes that are read from their front; short ones are an answer.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  bool take(T& value) {
    std::string_view bytes;
    if (!take(sizeof(T), bytes)) {
      return false;
    }
    value = load_le<T>(std::as_bytes(std::span(bytes)), 0);
    return true;
  }
  bool take(uint64_t count, std::string_view& bytes) {
    if (count > rest_.size()) {
      return false;
    }
    bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return true;
  }
  bool done() const {
    return rest_.empty();
  }

 private:
  std::string_view rest_;
};

Status corrupt(const std::string& got) {
  return {ErrorCode::kCorrupt, "[record] expected a record's body, got " + got};
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
  if (!bytes.starts_with(kMagic) || bytes.size() == kMagic.size()) {
    return corrupt("other bytes");
  }
  Reader reader(bytes.substr(kMagic.size()));
  uint8_t encoding = 0;
  reader.take(encoding);
  if (encoding != static_cast<uint8_t>(kEncoding)) {
    return Status(
        ErrorCode::kUnsupported,
        "[record] expected a body of encoding 1, got " +
            std::to_string(encoding));
  }
  uint32_t count = 0;
  if (!reader.take(count) || count == 0 || count > kMaxParts) {
    return corrupt("one of " + std::to_string(count) + " parts");
  }
  std::string_view before;
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t name_bytes = 0;
    std::string_view name;
    Part part;
    uint64_t size = 0;
    std::string_view content;
    if (!reader.take(name_bytes) || !reader.take(name_bytes, name) ||
        !reader.take(part.version) || !reader.take(size) ||
        !reader.take(size, content)) {
      return corrupt("a part that its end cuts");
    }
    if (name.empty() || (i > 0 && name <= before)) {
      return corrupt("parts that are out of order");
    }
    before = name;
    part.bytes = content;
    body.parts_.emplace_hint(body.parts_.end(), name, std::move(part));
  }
  return reader.done() ? Result<RecordBody>(std::move(body))
                       : Result<RecordBody>(corrupt("bytes behind its end"));
}

} // namespace holdfast
