// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The parts that a prefix cache writes into the bodies of its records
// (docs/manifest.md): every field of them, and what is made of wrong ones.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "holdfast/prefix/named_record.h"
#include "holdfast/prefix/text_facts.h"

namespace holdfast {
namespace {

/// `.marks` of one mark, its fields as given.
struct MarkBytes {
  uint64_t begin = 5;
  uint64_t end = 9;
  uint8_t kind = 1;
  uint8_t digest_bytes = 3;
  std::string digest = "abc";

  std::string bytes() const {
    std::string result;
    for (const uint64_t value : {begin, end}) {
      for (int byte = 0; byte < 8; ++byte) {
        result += static_cast<char>(value >> (8 * byte));
      }
    }
    result += static_cast<char>(kind);
    result += static_cast<char>(digest_bytes);
    return result + digest;
  }
};

std::vector<TokenMark> sample() {
  return {
      {Position(5), Position(9), true, "abc"},
      {Position(64), Position(200), false, std::string(32, '\0')}};
}

TEST(MarksPart, HasTheBytesOfItsDocument) {
  EXPECT_EQ(
      encode_marks(std::vector(1, sample()[0])),
      std::string("\5\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\1\3abc", 21));
  EXPECT_EQ(MarkBytes().bytes(), encode_marks(std::vector(1, sample()[0])));
  const auto parsed = parse_marks(encode_marks(sample())).value();
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[1].begin, Position(64));
  EXPECT_EQ(parsed[1].end, Position(200));
  EXPECT_FALSE(parsed[1].bidirectional);
  EXPECT_EQ(parsed[1].digest, std::string(32, '\0'));
  EXPECT_EQ(encode_marks(parsed), encode_marks(sample()));
  EXPECT_EQ(encode_marks({}), "");
  EXPECT_TRUE(parse_marks("").value().empty());
}

TEST(MarksPart, WithAnyFieldWrongIsNone) {
  const uint64_t negative = uint64_t{1} << 63;
  for (const MarkBytes& wrong : {
           MarkBytes{.begin = 9},
           MarkBytes{.begin = 10},
           MarkBytes{.begin = negative},
           MarkBytes{.begin = 0, .end = 0},
           MarkBytes{.end = 4},
           MarkBytes{.end = negative},
           MarkBytes{.end = (uint64_t{1} << 40) + 1},
           MarkBytes{.end = std::numeric_limits<uint64_t>::max()},
           MarkBytes{.kind = 2},
           MarkBytes{.kind = 255},
           MarkBytes{.digest_bytes = 4},
           MarkBytes{.digest_bytes = 255},
           MarkBytes{.digest_bytes = 2}, // then a byte of another mark
       }) {
    EXPECT_FALSE(parse_marks(wrong.bytes()).has_value())
        << wrong.begin << " " << wrong.end << " " << int{wrong.kind} << " "
        << int{wrong.digest_bytes};
  }
}

TEST(MarksPart, CutAnywhereIsNoneOrThatOfFewerMarks) {
  const std::string bytes = encode_marks(sample());
  for (size_t size = 1; size < bytes.size(); ++size) {
    const auto parsed = parse_marks(bytes.substr(0, size));
    EXPECT_EQ(parsed.has_value(), size == 21) << size;
  }
}

TEST(FactsParts, GiveBackWhatWasSet) {
  RecordBody body;
  const TextFacts facts{
      .model = "a model.gguf", .line = "hello", .made_ns = -77};
  set_facts(body, facts);
  const auto again = RecordBody::parse(body.encode()).value();
  EXPECT_EQ(facts_of(again).model, facts.model);
  EXPECT_EQ(facts_of(again).line, facts.line);
  EXPECT_EQ(facts_of(again).made_ns, facts.made_ns);
}

// A part of another version, or of another size, is as none: the others stay.
TEST(FactsParts, OfAnotherVersionOrSizeAreNone) {
  for (const char* name : {"model", "line", "made"}) {
    for (const uint32_t version : {0u, 2u, 0xffffffffu}) {
      RecordBody body;
      set_facts(body, {.model = "m", .line = "l", .made_ns = 5});
      body.set(name, {.version = version, .bytes = std::string(8, 'x')});
      const TextFacts facts = facts_of(body);
      EXPECT_EQ(facts.model, std::string(name) == "model" ? "" : "m");
      EXPECT_EQ(facts.line, std::string(name) == "line" ? "" : "l");
      EXPECT_EQ(facts.made_ns, std::string(name) == "made" ? 0 : 5);
    }
  }
  for (const size_t size : {0, 1, 7, 9, 4096}) {
    RecordBody body;
    body.set("made", {.version = 1, .bytes = std::string(size, '\x7f')});
    EXPECT_EQ(facts_of(body).made_ns, 0) << size;
  }
  EXPECT_EQ(facts_of(RecordBody()).made_ns, 0);
}

} // namespace
} // namespace holdfast
