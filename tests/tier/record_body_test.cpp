// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A record's body: what goes in comes out, equal bodies have equal bytes, and
// other bytes are refused.

#include "holdfast/tier/record_body.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/code_of.h"

namespace holdfast {
namespace {

RecordBody sample() {
  RecordBody body;
  body.set("tree", {.version = 3, .bytes = std::string("a\0b", 3)});
  body.set("model", {.version = 1, .bytes = ""});
  return body;
}

TEST(RecordBody, HasTheBytesOfItsDocument) {
  const std::string bytes = sample().encode();
  const std::string want(
      "HoFbody\x01\x02\0\0\0" // magic, encoding, parts
      "\x05model\x01\0\0\0\0\0\0\0\0\0\0\0" // name, version, size
      "\x04tree\x03\0\0\0\x03\0\0\0\0\0\0\0a\0b",
      50);
  EXPECT_EQ(bytes, want);
  EXPECT_EQ(RecordBody::parse(want).value(), sample());
}

TEST(RecordBody, OfNoPartsIsNoBytes) {
  EXPECT_EQ(RecordBody().encode(), "");
  EXPECT_TRUE(RecordBody::parse("").value().empty());
}

TEST(RecordBody, SetReplacesAndTheOrderOfCallsDecidesNothing) {
  RecordBody body;
  body.set("model", {.version = 9, .bytes = "other"});
  body.set("tree", {.version = 3, .bytes = std::string("a\0b", 3)});
  body.set("model", {.version = 1, .bytes = ""});
  EXPECT_EQ(body.encode(), sample().encode());
  EXPECT_TRUE(body.remove("tree"));
  EXPECT_FALSE(body.remove("tree"));
  EXPECT_EQ(body.find("tree"), nullptr);
}

TEST(RecordBody, RefusesEveryPrefixOfItsBytes) {
  const std::string bytes = sample().encode();
  for (size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_EQ(
        RecordBody::parse(bytes.substr(0, size)).status().code(),
        ErrorCode::kCorrupt)
        << size;
  }
  EXPECT_EQ(
      RecordBody::parse(bytes + '\0').status().code(), ErrorCode::kCorrupt);
}

// A byte that changed is refused, or is another body that says so itself.
TEST(RecordBody, TakesNoBytesThatItWouldNotWrite) {
  const std::string bytes = sample().encode();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] ^ (1 << bit));
      const auto parsed = RecordBody::parse(other);
      if (parsed.ok()) {
        EXPECT_EQ(parsed.value().encode(), other) << at;
        EXPECT_NE(parsed.value(), sample()) << at;
      }
    }
  }
}

TEST(RecordBody, NamesALaterEncoding) {
  std::string bytes = sample().encode();
  bytes[7] = 2;
  EXPECT_EQ(RecordBody::parse(bytes).status().code(), ErrorCode::kUnsupported);
}

TEST(RecordBody, RefusesPartsThatAreOutOfOrderOrTwice) {
  std::string bytes = sample().encode();
  bytes.replace(bytes.find("model"), 5, "tresl"); // behind "tree"
  EXPECT_EQ(RecordBody::parse(bytes).status().code(), ErrorCode::kCorrupt);
  RecordBody two;
  two.set("a", {}).set("b", {});
  std::string same = two.encode();
  same[same.rfind('b')] = 'a';
  EXPECT_EQ(RecordBody::parse(same).status().code(), ErrorCode::kCorrupt);
}

// Each field at its edges; the bytes behind are those of one part.
TEST(RecordBody, RefusesCountsAndNamesOutOfBounds) {
  const auto with_count = [](uint32_t count, const std::string& parts) {
    std::string bytes = "HoFbody\x01";
    for (int byte = 0; byte < 4; ++byte) {
      bytes += static_cast<char>(count >> (8 * byte));
    }
    return bytes + parts;
  };
  const std::string rest(12, '\0'); // version, and a size of none
  const std::string part = "\x01" + ("n" + rest);
  ASSERT_TRUE(RecordBody::parse(with_count(1, part)).ok());
  for (const uint32_t count : {0u, 2u, 4096u, 4097u, 0x80000000u, ~0u}) {
    EXPECT_EQ(
        RecordBody::parse(with_count(count, part)).status().code(),
        ErrorCode::kCorrupt)
        << count;
  }
  EXPECT_EQ( // no part, and none said
      RecordBody::parse(with_count(0, "")).status().code(),
      ErrorCode::kCorrupt);
  EXPECT_EQ( // an empty name
      RecordBody::parse(with_count(1, std::string(1, '\0') + rest))
          .status()
          .code(),
      ErrorCode::kCorrupt);
  EXPECT_EQ( // a size beyond the end, that would wrap as a sum
      RecordBody::parse(
          with_count(
              1, "\x01n" + std::string(4, '\0') + std::string(8, '\xff')))
          .status()
          .code(),
      ErrorCode::kCorrupt);
  RecordBody most;
  for (int i = 0; i < 4096; ++i) {
    most.set("part " + std::to_string(i), {.version = 1, .bytes = ""});
  }
  EXPECT_EQ(RecordBody::parse(most.encode()).value(), most);
  EXPECT_EQ(
      code_of([&] { most.set("one more", {}); }), ErrorCode::kInvalidArgument);
}

TEST(RecordBody, RefusesNamesThatItCouldNotWrite) {
  RecordBody body;
  EXPECT_EQ(code_of([&] { body.set("", {}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code_of([&] { body.set(std::string(256, 'n'), {}); }),
      ErrorCode::kInvalidArgument);
  body.set(std::string(255, 'n'), {});
  EXPECT_EQ(RecordBody::parse(body.encode()).value(), body);
}

} // namespace
} // namespace holdfast
