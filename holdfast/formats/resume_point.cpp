// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/resume_point.h"

#include <algorithm>
#include <limits>

#include "holdfast/base/check.h"
#include "holdfast/base/checksum.h"
#include "holdfast/base/field_reader.h"

namespace holdfast {

namespace {

constexpr std::string_view kWhere = "[resume point] ";
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

ResumeRow read_row(FieldReader& in) {
  ResumeRow row;
  const auto prompt = in.number<uint32_t>("length of a prompt");
  const auto ids = in.number<uint32_t>("number of tokens");
  const FieldPlace logged_at = in.place("log-probabilities of a token");
  const auto logged = in.number<uint32_t>(logged_at.field);
  const auto text = in.number<uint32_t>("length of a text");
  const auto held = in.number<uint32_t>("length of what is held back");
  const auto flags = in.number<uint32_t>("flags", 0, 1);
  // The product is below 2^64.
  const uint64_t values = uint64_t{ids} * logged;
  if (values > in.left()) {
    in.refuse(
        logged_at,
        "at most " + std::to_string(in.left()) + " in all",
        std::to_string(ids) + " times " + std::to_string(logged));
  }
  row.prompt = in.array<int32_t>(prompt, "prompt");
  row.ids = in.array<int32_t>(ids, "tokens");
  row.logged = logged;
  row.logged_ids = in.array<int32_t>(values, "logged tokens");
  row.logged_values = in.array<double>(values, "log-probabilities");
  row.text = in.text(text, "text");
  row.held = in.text(held, "text held back");
  row.finished = flags == 1;
  return row;
}

void require_head(std::string_view bytes) {
  FieldReader in(bytes, kWhere);
  if (in.text(kMagic.size(), "magic") != kMagic) {
    in.refuse({"magic", 0}, "\"hf-point\"", "other bytes");
  }
  in.known<uint32_t>(kVersion, "version");
  in.take(kHeadBytes + kSumBytes - kMagic.size() - sizeof kVersion, "rest");
  const size_t end = bytes.size() - kSumBytes;
  FieldReader sum(bytes.substr(end), kWhere);
  sum.equal(
      {"checksum", static_cast<int64_t>(end)},
      sum.number<uint64_t>("checksum"),
      checksum(bytes.substr(0, end)));
}

ResumePoint read(std::string_view bytes) {
  require_head(bytes);
  FieldReader in(bytes.substr(0, bytes.size() - kSumBytes), kWhere);
  in.take(kMagic.size() + sizeof kVersion, "magic and version");
  ResumePoint point;
  const uint32_t fields = in.count(2 * sizeof(uint32_t), "fields");
  const uint32_t rows = in.count(kRowBytes, "rows");
  in.zero(sizeof(uint32_t), "zero");
  for (uint32_t i = 0; i < fields; ++i) {
    const auto name = in.number<uint32_t>("length of a name");
    const auto value = in.number<uint32_t>("length of a value");
    ResumePoint::Field& field = point.fields.emplace_back();
    field.name = in.text(name, "name of a field");
    field.value = in.text(value, "value of a field");
  }
  for (uint32_t i = 0; i < rows; ++i) {
    point.rows.push_back(read_row(in));
  }
  in.end("bytes behind the last row");
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
