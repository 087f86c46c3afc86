// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/formats/byte_alphabet.h"
#include "holdfast/formats/gguf_tokenizer.h"
#include "tests/formats/gguf_support.h"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// 256 bytes, "12", "123" by merges, <end> (control), <tag> (user-defined).
struct Vocabulary {
  std::string model = "gpt2";
  std::string words = "llama-bpe";
  std::vector<std::string> pieces;
  std::vector<int32_t> types;
  std::vector<std::string> merges{"1 2", "12 3"};
  int32_t bos = 258;

  Vocabulary() {
    for (int byte = 0; byte < 256; ++byte) {
      append_in_alphabet(
          std::string(1, static_cast<char>(byte)), pieces.emplace_back());
    }
    for (const char* piece : {"12", "123", "<end>", "<tag>"}) {
      pieces.emplace_back(piece);
    }
    types.assign(258, 1);
    types.push_back(3);
    types.push_back(4);
  }

  std::string bytes() const {
    GgufImage image;
    image.add_text("tokenizer.ggml.model", model);
    image.add_text("tokenizer.ggml.pre", words);
    image.add_texts("tokenizer.ggml.tokens", pieces);
    image.add_texts("tokenizer.ggml.merges", merges);
    std::string encoded;
    for (const int32_t type : types) {
      put(encoded, type);
    }
    image.add_array(
        "tokenizer.ggml.token_type",
        static_cast<uint32_t>(GgufValue::kI32),
        types.size(),
        encoded);
    image.add("tokenizer.ggml.bos_token_id", GgufValue::kU32, bos);
    image.add("tokenizer.ggml.eos_token_id", GgufValue::kU32, 258);
    return image.bytes();
  }
};

Result<Tokenizer> read(const Vocabulary& vocabulary) {
  const std::string bytes = vocabulary.bytes();
  return read_gguf_tokenizer(parse(bytes).value());
}

std::string refusal(const Vocabulary& vocabulary) {
  return read(vocabulary).status().text();
}

TEST(GgufTokenizer, ReadsAByteLevelVocabulary) {
  const Tokenizer tokenizer = read(Vocabulary()).value();
  EXPECT_EQ(tokenizer.kind(), "byte-level BPE");
  // Three digits are a word; llama-bpe puts bos first unless told otherwise.
  EXPECT_THAT(
      tokenizer.encode("1231<tag><end>", {.parse_special = true}),
      ElementsAre(258, 257, '1', 259, 258));
  EXPECT_THAT(
      tokenizer.encode("<end>", {.add_special = false}),
      ElementsAre('<', 'e', 'n', 'd', '>'));
  EXPECT_EQ(tokenizer.decode(std::vector{257, 259}), "123<tag>");
}

TEST(GgufTokenizer, CutsWordsAsTheNamedFamilyDoes) {
  Vocabulary vocabulary;
  vocabulary.words = "qwen2"; // each digit is a word, and letters compose
  EXPECT_THAT(
      read(vocabulary).value().encode("12e\xCC\x81"),
      ElementsAre('1', '2', 0xC3, 0xA9));
  vocabulary.words = "gpt-2";
  EXPECT_THAT(
      read(vocabulary).value().encode("123e\xCC\x81"),
      ElementsAre(257, 'e', 0xCC, 0x81));
  vocabulary.words = "smollm";
  EXPECT_THAT(read(vocabulary).value().encode("12"), ElementsAre('1', '2'));
  for (const char* name : {"gpt-4o", "tekken", "qwen35", "phi-2", "llama3"}) {
    vocabulary.words = name;
    EXPECT_TRUE(read(vocabulary).ok()) << name;
  }
}

TEST(GgufTokenizer, RefusesWhatItDoesNotKnow) {
  Vocabulary vocabulary;
  vocabulary.words = "default";
  EXPECT_THAT(refusal(vocabulary), HasSubstr("tokenizer.ggml.pre at offset "));
  EXPECT_THAT(refusal(vocabulary), HasSubstr("smollm, llama-bpe"));
  vocabulary = Vocabulary();
  vocabulary.model = "t5";
  EXPECT_THAT(
      refusal(vocabulary),
      HasSubstr("expected llama (SentencePiece) or gpt2 (byte-level BPE), got "
                "\"t5\""));
}

TEST(GgufTokenizer, RefusesWhatContradictsItself) {
  Vocabulary vocabulary;
  vocabulary.types.pop_back();
  EXPECT_THAT(refusal(vocabulary), HasSubstr("as many types as pieces (260)"));
  vocabulary = Vocabulary();
  vocabulary.types[3] = 6;
  EXPECT_THAT(refusal(vocabulary), HasSubstr("a type from 1 to 5 of piece 3"));
  vocabulary = Vocabulary();
  vocabulary.merges[1] = "123";
  EXPECT_THAT(refusal(vocabulary), HasSubstr("two pieces with a space"));
  vocabulary = Vocabulary();
  vocabulary.merges[1] = "1 4";
  EXPECT_THAT(
      refusal(vocabulary), HasSubstr("tokenizer.ggml.merges: expected"));
  vocabulary = Vocabulary();
  vocabulary.bos = 260;
  EXPECT_THAT(refusal(vocabulary), HasSubstr("bos_token_id"));
  vocabulary = Vocabulary();
  vocabulary.pieces[0] = "00";
  EXPECT_THAT(refusal(vocabulary), HasSubstr("a piece for each byte"));
}

} // namespace
} // namespace holdfast::test
