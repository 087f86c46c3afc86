// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "holdfast/formats/tokenizer_model.h"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kMark(kSpaceMark);

std::string varint(uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) {
    out += static_cast<char>(value | 128);
  }
  return out + static_cast<char>(value);
}
std::string number(uint64_t field, uint64_t value) {
  return varint(field << 3) + varint(value);
}
std::string bytes(uint64_t field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}
std::string piece(const std::string& text, float score, int type) {
  std::string bits(4, '\0');
  std::memcpy(bits.data(), &score, 4);
  return bytes(
      1,
      bytes(1, text) + varint(2 << 3 | 5) + bits +
          number(3, static_cast<uint64_t>(type)));
}

/// <unk> 0, <s> 1, </s> 2, 256 bytes from 3 on, then these.
struct ModelFile {
  std::string pieces = piece("<unk>", 0, 2) + piece("<s>", 0, 3) +
      piece("</s>", 0, 3) + all_bytes();
  std::string trainer = number(3, 2) + number(35, 1);
  std::string normalizer = bytes(1, "identity") + number(3, 1) + number(4, 0);

  static std::string all_bytes() {
    constexpr char kHex[] = "0123456789ABCDEF";
    std::string out;
    for (int byte = 0; byte < 256; ++byte) {
      out += piece(
          std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">", 0, 6);
    }
    return out;
  }
  std::string text() const {
    return pieces + bytes(2, trainer) + bytes(3, normalizer);
  }
};

std::string refusal(
    const std::string& file,
    const TokenizerNames& names = {},
    const std::vector<AddedToken>& added = {}) {
  const Status status =
      read_tokenizer_model(file, "t.model", names, added).status();
  return status.ok() ? "ok"
                     : std::string(name(status.code())) + ": " + status.text();
}

constexpr TokenId kFirst = 259;

TEST(TokenizerModel, ReadsPiecesAndMergesThem) {
  ModelFile file;
  file.pieces += piece(kMark, -9, 1) + piece("a", -9, 1) +
      piece(kMark + "a", -1, 1) + piece(kMark + kMark, 0, 4);
  const Tokenizer tokenizer =
      read_tokenizer_model(file.text(), "t.model").value();
  EXPECT_EQ(tokenizer.size(), kFirst + 4);
  EXPECT_EQ(tokenizer.bos(), 1);
  EXPECT_EQ(tokenizer.eos(), 2);
  EXPECT_EQ(tokenizer.unknown(), 0);
  EXPECT_THAT(
      tokenizer.encode("a\xC3"),
      ElementsAre(1, kFirst + 2, 3 + 0xC3)); // bos, space and a, a byte
  // A user-defined piece is looked for in text: two spaces.
  EXPECT_THAT(
      tokenizer.encode("a  a", {.add_special = false}),
      ElementsAre(kFirst + 2, kFirst + 3, kFirst + 2));
}

TEST(TokenizerModel, TakesIdsAndFlagsThatItNames) {
  ModelFile file;
  file.trainer += number(40, 0) + number(41, 2) + number(42, 1) +
      number(43, UINT64_MAX); // -1: no padding
  file.normalizer = number(3, 0) + number(4, 0);
  file.pieces += piece("a", -9, 1);
  const Tokenizer tokenizer =
      read_tokenizer_model(file.text(), "t.model", {.add_eos = true}).value();
  EXPECT_EQ(tokenizer.padding(), kNoToken);
  EXPECT_THAT(tokenizer.encode("a"), ElementsAre(2, kFirst, 1));
}

TEST(TokenizerModel, PutsTokensOfOtherFilesBehindItsOwn) {
  ModelFile file;
  file.pieces += piece("a", -9, 1);
  const std::vector<AddedToken> added{
      {.id = 2, .text = "</s>", .special = true},
      {.id = kFirst + 1, .text = "<end>", .special = true},
      {.id = kFirst + 3, .text = "<tag>"}};
  const Tokenizer tokenizer =
      read_tokenizer_model(file.text(), "t.model", {.eos = "<end>"}, added)
          .value();
  EXPECT_EQ(tokenizer.size(), kFirst + 4);
  EXPECT_EQ(tokenizer.eos(), kFirst + 1);
  EXPECT_EQ(tokenizer.type(kFirst + 1), PieceType::kControl);
  EXPECT_EQ(tokenizer.type(kFirst + 3), PieceType::kUserDefined);
  const TokenizerNames names{
      .file = "c.json", .added = "c.json: added_tokens_decoder"};
  EXPECT_EQ(
      refusal(file.text(), names, {{.id = 1, .text = "<bos>"}}),
      "corrupt: c.json: added_tokens_decoder.1: expected the piece of t.model "
      "or an id behind its 260, got \"<bos>\"");
  EXPECT_THAT(
      refusal(file.text(), names, {{.id = 900000, .text = "x"}}),
      StartsWith("corrupt: c.json: added_tokens_decoder.900000"));
  EXPECT_THAT(
      refusal(
          file.text(),
          names,
          {{.id = kFirst + 1, .text = "x", .right_strip = true}}),
      StartsWith("unsupported: c.json"));
  EXPECT_THAT(
      refusal(file.text(), {.bos = "<bos>", .file = "c.json"}),
      StartsWith("corrupt: c.json: bos_token: expected a piece of t.model"));
}

TEST(TokenizerModel, RefusesWhatItDoesNotRead) {
  ModelFile file;
  file.trainer = number(3, 1);
  EXPECT_EQ(
      refusal(file.text()),
      "unsupported: t.model: trainer_spec.model_type: expected BPE (2), got "
      "unigram (1)");
  file.trainer = ""; // unigram is what the format means by nothing
  EXPECT_THAT(refusal(file.text()), HasSubstr("got unigram"));
  file.trainer = number(3, 4);
  EXPECT_THAT(refusal(file.text()), HasSubstr("BPE (2), got 4"));
  file.trainer = number(3, 2) + number(24, 1);
  EXPECT_THAT(refusal(file.text()), HasSubstr("whitespace_as_suffix"));
  file = ModelFile();
  file.normalizer += bytes(2, "map");
  EXPECT_THAT(
      refusal(file.text()),
      HasSubstr("precompiled_charsmap: expected none (identity), got 3 bytes"));
  file.normalizer = "";
  EXPECT_THAT(refusal(file.text()), HasSubstr("remove_extra_whitespaces"));
  file.normalizer = number(4, 0) + number(5, 0);
  EXPECT_THAT(refusal(file.text()), HasSubstr("escape_whitespaces"));
}

TEST(TokenizerModel, RefusesEveryTruncation) {
  ModelFile file;
  file.pieces = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("a", -1, 1);
  const std::string whole = file.text();
  EXPECT_EQ(refusal(whole), "ok");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(refusal(whole.substr(0, size)), "ok") << size;
  }
}

TEST(TokenizerModel, RefusesBytesThatContradictTheFormat) {
  EXPECT_THAT(
      refusal(std::string("\x0A\x05") + "abc"),
      StartsWith("corrupt: t.model: at byte 2: expected 5 bytes, got 3"));
  EXPECT_THAT(refusal("\x0B"), HasSubstr("wire type of 0, 1, 2 or 5, got 3"));
  EXPECT_THAT(refusal(std::string(1, '\0')), HasSubstr("number, got 0"));
  EXPECT_THAT(refusal(std::string(12, '\xFF')), HasSubstr("at most 10 bytes"));
  EXPECT_THAT(refusal("\x15\x01"), HasSubstr("the rest of a number"));
  EXPECT_THAT(refusal(number(1, 7)), HasSubstr("of pieces, got wire type 0"));
  ModelFile file;
  file.pieces += piece("a", 0, 9);
  EXPECT_THAT(refusal(file.text()), HasSubstr("from 1 to 6, got 9"));
  file = ModelFile();
  file.pieces += piece("<s>", 0, 1);
  EXPECT_THAT(refusal(file.text()), HasSubstr("piece 259 equal to piece 1"));
}

} // namespace
} // namespace holdfast
