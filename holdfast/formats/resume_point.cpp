// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/resume_point.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "holdfast/base/check.h"
#include "holdfast/base/checksum.h"

namespace holdfast {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "hf-point";
constexpr uint32_t kVersion = 1;
constexpr size_t kSumBytes = sizeof(uint64_t);
/// Magic, version, number of fields, number of rows, zero.
constexpr size_t kHeadBytes = 24;
/// Numbers of a row, before its arrays.
constexpr size_t kRowBytes = 6 * sizeof(uint32_t);

class Writer {
 public:
  void number(size_t value, const char* what) {
    if (value > std::numeric_limits<uint32_t>::max()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[resume point] expected fewer than 2^32 " + std::string(what) +
              ", got " + std::to_string(value));
    }
    const auto stored = static_cast<uint32_t>(value);
    bytes(&stored, sizeof stored);
  }
  void text(std::string_view text) {
    out_ += text;
  }
  template <class T>
  void array(const std::vector<T>& values) {
    bytes(values.data(), values.size() * sizeof(T));
  }
  std::string finish() {
    const uint64_t sum = checksum(out_);
    bytes(&sum, sizeof sum);
    return std::move(out_);
  }

 private:
  void bytes(const void* from, size_t count) {
    out_.append(static_cast<const char*>(from), count);
  }
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes), rest_(bytes) {}

  [[noreturn]] void refuse(
      ErrorCode code,
      const std::string& expected,
      const std::string& got) const {
    throw Error(
        code,
        "[resume point] at byte " +
            std::to_string(bytes_.size() - rest_.size()) + ": expected " +
            expected + ", got " + got);
  }
  std::string_view text(uint64_t count, const char* what) {
    if (count > rest_.size()) {
      refuse(
          ErrorCode::kCorrupt,
          std::to_string(count) + " bytes of " + what,
          std::to_string(rest_.size()));
    }
    const std::string_view result = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return result;
  }
  uint32_t number(const char* what) {
    uint32_t value = 0;
    std::memcpy(&value, text(sizeof value, what).data(), sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> array(uint64_t count, const char* what) {
    const std::string_view from = text(count * sizeof(T), what);
    std::vector<T> values(count);
    if (count > 0) {
      std::memcpy(values.data(), from.data(), from.size());
    }
    return values;
  }
  /// A count of things of at least `least` bytes each, which is thus bounded
  /// by what is left.
  uint32_t count(size_t least, const char* what) {
    const uint32_t value = number(what);
    if (uint64_t{value} * least > rest_.size()) {
      refuse(
          ErrorCode::kCorrupt,
          "room for " + std::to_string(value) + " " + what,
          std::to_string(rest_.size()) + " bytes");
    }
    return value;
  }
  bool at_end() const {
    return rest_.empty();
  }
  size_t left() const {
    return rest_.size();
  }
  void drop_end(size_t count) {
    rest_.remove_suffix(count);
  }

 private:
  const std::string_view bytes_;
  std::string_view rest_;
};

void write_row(Writer& out, const ResumeRow& row) {
  const auto logged = static_cast<size_t>(row.logged);
  expect(
      row.logged >= 0 && row.logged_ids.size() == row.ids.size() * logged &&
          row.logged_values.size() == row.logged_ids.size(),
      "[resume point] expected as many log-probabilities for each id, got "
      "another number");
  out.number(row.prompt.size(), "tokens of a prompt");
  out.number(row.ids.size(), "tokens chosen");
  out.number(logged, "log-probabilities of a token");
  out.number(row.text.size(), "bytes of text");
  out.number(row.held.size(), "bytes held back");
  out.number(row.finished ? 1 : 0, "flags");
  out.array(row.prompt);
  out.array(row.ids);
  out.array(row.logged_ids);
  out.array(row.logged_values);
  out.text(row.text);
  out.text(row.held);
}

ResumeRow read_row(Reader& in) {
  ResumeRow row;
  const uint64_t prompt = in.number("a prompt's length");
  const uint64_t ids = in.number("the number of tokens");
  const uint64_t logged = in.number("the number of log-probabilities");
  const uint64_t text = in.number("a text's length");
  const uint64_t held = in.number("the length of what is held back");
  const uint32_t flags = in.number("flags");
  if (flags > 1) {
    in.refuse(ErrorCode::kCorrupt, "flags 0 or 1", std::to_string(flags));
  }
  // 12 bytes for each, so that no product exceeds 64 bits unseen.
  if (ids > 0 && logged > in.left() / ids) {
    in.refuse(
        ErrorCode::kCorrupt,
        std::to_string(ids) + " times " + std::to_string(logged) +
            " log-probabilities",
        std::to_string(in.left()) + " bytes");
  }
  row.prompt = in.array<int32_t>(prompt, "a prompt");
  row.ids = in.array<int32_t>(ids, "tokens");
  row.logged = static_cast<int64_t>(logged);
  row.logged_ids = in.array<int32_t>(ids * logged, "logged tokens");
  row.logged_values = in.array<double>(ids * logged, "log-probabilities");
  row.text = in.text(text, "text");
  row.held = in.text(held, "text held back");
  row.finished = flags == 1;
  return row;
}

ResumePoint read(std::string_view bytes) {
  Reader in(bytes);
  if (in.text(kMagic.size(), "the magic") != kMagic) {
    throw Error(
        ErrorCode::kCorrupt,
        "[resume point] expected \"hf-point\" first, got other bytes");
  }
  if (const uint32_t version = in.number("the version"); version != kVersion) {
    in.refuse(
        ErrorCode::kUnsupported,
        "version " + std::to_string(kVersion),
        std::to_string(version));
  }
  if (bytes.size() < kHeadBytes + kSumBytes) {
    in.refuse(
        ErrorCode::kCorrupt,
        "at least " + std::to_string(kHeadBytes + kSumBytes) + " bytes",
        std::to_string(bytes.size()));
  }
  uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + bytes.size() - kSumBytes, kSumBytes);
  if (sum != checksum(bytes.substr(0, bytes.size() - kSumBytes))) {
    in.refuse(ErrorCode::kCorrupt, "the checksum of its bytes", "another");
  }
  in.drop_end(kSumBytes);
  ResumePoint point;
  const uint32_t fields = in.count(2 * sizeof(uint32_t), "fields");
  const uint32_t rows = in.count(kRowBytes, "rows");
  if (const uint32_t zero = in.number("a zero"); zero != 0) {
    in.refuse(ErrorCode::kCorrupt, "0", std::to_string(zero));
  }
  for (uint32_t i = 0; i < fields; ++i) {
    const uint32_t name = in.number("a name's length");
    const uint32_t value = in.number("a value's length");
    ResumePoint::Field& field = point.fields.emplace_back();
    field.name = in.text(name, "a field's name");
    field.value = in.text(value, "a field's value");
  }
  for (uint32_t i = 0; i < rows; ++i) {
    point.rows.push_back(read_row(in));
  }
  if (!in.at_end()) {
    in.refuse(
        ErrorCode::kCorrupt, "its end", std::to_string(in.left()) + " bytes");
  }
  return point;
}

} // namespace

const std::string* ResumePoint::find(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() ? nullptr : &found->value;
}

std::string encode(const ResumePoint& point) {
  Writer out;
  out.text(kMagic);
  out.number(kVersion, "versions");
  out.number(point.fields.size(), "fields");
  out.number(point.rows.size(), "rows");
  out.number(0, "zeros");
  for (const ResumePoint::Field& field : point.fields) {
    out.number(field.name.size(), "bytes of a name");
    out.number(field.value.size(), "bytes of a value");
    out.text(field.name);
    out.text(field.value);
  }
  for (const ResumeRow& row : point.rows) {
    write_row(out, row);
  }
  return out.finish();
}

Result<ResumePoint> decode_resume_point(std::string_view bytes) {
  try {
    return read(bytes);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
