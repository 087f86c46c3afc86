// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/field_reader.h"

#include <functional>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::string_view_literals;

/// What is said of a read that cannot be done.
std::string said(
    std::string_view bytes,
    const std::function<void(FieldReader&)>& read,
    ErrorCode code = ErrorCode::kCorrupt) {
  FieldReader in(std::as_bytes(std::span(bytes)), "f: ", 100);
  try {
    read(in);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "nothing";
}

TEST(FieldReader, ReadsFieldsFromTheFrontAtAnyAddress) {
  constexpr std::string_view kBytes =
      "\1\2\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff"
      "abc\0\0\0\0\0\xe0\xbf\1\0\2\0\0\0"sv;
  FieldReader in(kBytes, "");
  EXPECT_EQ(in.number<uint8_t>("a"), 1);
  EXPECT_EQ(in.number<uint32_t>("b", 0, 2), 2u);
  EXPECT_EQ(in.number<int64_t>("c"), -2);
  EXPECT_EQ(in.text(3, "d"), "abc");
  EXPECT_EQ(in.array<double>(0, "none").size(), 0u);
  in.zero(2, "e");
  EXPECT_EQ(in.place("f").offset, 18);
  EXPECT_EQ(in.number<int16_t>("f"), 0);
  in.zero(1, "g");
  EXPECT_EQ(in.take(2, "h")[0], std::byte{0xe0});
  EXPECT_EQ(in.array<uint16_t>(2, "i"), (std::vector<uint16_t>{1, 2}));
  EXPECT_EQ(in.left(), 2u);
  in.zero(2, "j");
  in.end("bytes behind");
}

TEST(FieldReader, NamesTheFieldThatCannotBeReadAndItsPlace) {
  const auto third = [](FieldReader& in) {
    in.take(2, "head");
    in.number<uint32_t>("third");
  };
  EXPECT_EQ(
      said("abcd", third),
      "f: third at offset 102: expected 4 times 1 bytes, got 2 to the end");
  EXPECT_EQ(
      said("abc", [](FieldReader& in) { in.zero(3, "zeros"); }),
      "f: zeros at offset 100: expected 0, got 97");
  EXPECT_EQ(
      said("\0\0b"sv, [](FieldReader& in) { in.zero(3, "zeros"); }),
      "f: zeros at offset 102: expected 0, got 98");
  EXPECT_EQ(
      said("a", [](FieldReader& in) { in.number<uint8_t>("n", 1, 9); }),
      "f: n at offset 100: expected 1 to 9, got 97");
  EXPECT_EQ(
      said("ab", [](FieldReader& in) { in.end("rest"); }),
      "f: rest at offset 100: expected 0, got 2");
  EXPECT_EQ(
      said(
          "\2\0\0\0"sv,
          [](FieldReader& in) { in.known<uint32_t>(1, "version"); },
          ErrorCode::kUnsupported),
      "f: version at offset 100: expected 1, got 2");
}

// A product of 64 bits would be small again.
TEST(FieldReader, BelievesNoCountBeforeTheBytesAreThere) {
  for (const uint64_t count : {uint64_t{2}, uint64_t{1} << 61, ~uint64_t{0}}) {
    EXPECT_NE(
        said(
            "12345678",
            [&](FieldReader& in) { in.array<uint64_t>(count, "a"); }),
        "nothing")
        << count;
  }
  EXPECT_EQ(
      said("\3\0\0\0----"sv, [](FieldReader& in) { in.count(2, "rows"); }),
      "f: rows at offset 104: expected 3 times 2 bytes, got 4 to the end");
  EXPECT_EQ(
      said("\2\0\0\0----"sv, [](FieldReader& in) { in.count(2, "rows"); }),
      "nothing");
}

} // namespace
} // namespace holdfast
