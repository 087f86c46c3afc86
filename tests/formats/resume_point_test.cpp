// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/resume_point.h"

#include <cstring>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/base/checksum.h"

namespace holdfast {
namespace {

using testing::HasSubstr;

/// The example of docs/resume.md.
ResumePoint example() {
  ResumePoint point;
  point.fields = {{"seed", "7"}};
  ResumeRow row;
  row.prompt = {2, 260};
  row.ids = {261};
  row.logged = 2;
  row.logged_ids = {261, 5};
  row.logged_values = {-0.5, -1.0};
  row.text = "a";
  row.held = "b";
  point.rows = {row};
  return point;
}

/// Makes the checksum that of the bytes.
std::string sealed(std::string bytes) {
  const size_t end = bytes.size() - sizeof(uint64_t);
  const uint64_t sum = checksum(std::string_view(bytes).substr(0, end));
  std::memcpy(bytes.data() + end, &sum, sizeof sum);
  return bytes;
}

std::string hex(std::string_view bytes) {
  std::string out;
  char digits[4];
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::snprintf(
        digits, sizeof digits, "%02x", static_cast<unsigned char>(bytes[i]));
    out += digits;
    out += i % 16 == 15 ? '\n' : ' ';
  }
  return out;
}

TEST(ResumePoint, TheWorkedExampleOfThePageIsTheBytesOfAPoint) {
  EXPECT_EQ(
      hex(encode(example())),
      "68 66 2d 70 6f 69 6e 74 01 00 00 00 01 00 00 00\n"
      "01 00 00 00 00 00 00 00 04 00 00 00 01 00 00 00\n"
      "73 65 65 64 37 02 00 00 00 01 00 00 00 02 00 00\n"
      "00 01 00 00 00 01 00 00 00 00 00 00 00 02 00 00\n"
      "00 04 01 00 00 05 01 00 00 05 01 00 00 05 00 00\n"
      "00 00 00 00 00 00 00 e0 bf 00 00 00 00 00 00 f0\n"
      "bf 61 62 57 f3 4e e7 1f 61 6d f6 ");
}

TEST(ResumePoint, DecodesToWhatWasEncoded) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    ResumePoint point;
    for (size_t i = random() % 4; i-- > 0;) {
      point.fields.push_back(
          {std::string(random() % 5, 'n'), std::string(random() % 9, 'v')});
    }
    for (size_t i = random() % 4; i-- > 0;) {
      ResumeRow& row = point.rows.emplace_back();
      row.prompt.resize(random() % 9, -1);
      row.ids.resize(random() % 5, 1 << 30);
      row.logged = static_cast<int64_t>(random() % 3);
      row.logged_ids.resize(row.ids.size() * static_cast<size_t>(row.logged));
      row.logged_values.resize(
          row.logged_ids.size(), -std::numeric_limits<double>::infinity());
      row.text.resize(random() % 7, '\0');
      row.held.resize(random() % 3, '\xc3');
      row.finished = random() % 2 == 0;
    }
    const std::string bytes = encode(point);
    const Result<ResumePoint> decoded = decode_resume_point(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status().text();
    ASSERT_EQ(decoded.value(), point);
    ASSERT_EQ(encode(decoded.value()), bytes);
  }
}

TEST(ResumePoint, CutAnywhereOrWithAnyBitFlippedIsRefused) {
  const std::string bytes = encode(example());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto cut =
        decode_resume_point(std::string_view(bytes).substr(0, size));
    ASSERT_EQ(cut.status().code(), ErrorCode::kCorrupt) << size;
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string other = bytes;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
    const bool of_version = bit / 8 >= 8 && bit / 8 < 12;
    ASSERT_EQ(
        decode_resume_point(other).status().code(),
        of_version ? ErrorCode::kUnsupported : ErrorCode::kCorrupt)
        << bit;
  }
  EXPECT_EQ(
      decode_resume_point(bytes + "x").status().code(), ErrorCode::kCorrupt);
}

/// A place in the example, what to write there, and what must be said of it.
struct FieldCase {
  const char* name;
  size_t offset;
  uint32_t value;
  const char* text;
};

class ResumePointField : public testing::TestWithParam<FieldCase> {};

TEST_P(ResumePointField, ThatIsWrongUnderARightChecksumIsRefused) {
  const FieldCase& c = GetParam();
  std::string bytes = encode(example());
  std::memcpy(bytes.data() + c.offset, &c.value, sizeof c.value);
  const Status status = decode_resume_point(sealed(bytes)).status();
  EXPECT_NE(status.code(), ErrorCode::kOk);
  EXPECT_THAT(status.text(), HasSubstr(c.text));
  EXPECT_EQ(status.text().find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Every,
    ResumePointField,
    testing::Values(
        FieldCase{"Magic", 0, 0, "hf-point"},
        FieldCase{
            "VersionBefore",
            8,
            0,
            "version at offset 8: expected 1, got 0"},
        FieldCase{
            "VersionAfter",
            8,
            2,
            "version at offset 8: expected 1, got 2"},
        FieldCase{"MoreFieldsThanRoom", 12, 1u << 31, "fields"},
        FieldCase{"NoField", 12, 0, "flags"},
        FieldCase{"MoreRowsThanRoom", 16, 1u << 31, "rows"},
        FieldCase{"FewerRows", 16, 0, "bytes behind the last row"},
        FieldCase{"Zero", 20, 1, "expected 0, got 1"},
        FieldCase{"NameBeyondTheEnd", 24, 1u << 31, "name"},
        FieldCase{"ValueBeyondTheEnd", 28, 1u << 31, "value"},
        FieldCase{"PromptBeyondTheEnd", 37, 1u << 31, "prompt at offset"},
        FieldCase{"TokensBeyondTheEnd", 41, ~0u, "log-probabilities"},
        FieldCase{"LoggedBeyondTheEnd", 45, ~0u, "log-probabilities"},
        FieldCase{"TextBeyondTheEnd", 49, 1u << 31, "text"},
        FieldCase{"TextShorter", 49, 0, "bytes behind the last row"},
        FieldCase{"HeldBeyondTheEnd", 53, 1u << 31, "held back"},
        FieldCase{"Flags", 57, 2, "flags"}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(ResumePoint, AnotherNumberOfLogprobsIsNotEncoded) {
  ResumePoint point = example();
  point.rows[0].logged_values.pop_back();
  EXPECT_THROW(encode(point), Error);
}

} // namespace
} // namespace holdfast
