// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/formats/tokenizer_json_support.h"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(TokenizerJson, ReadsPiecesMergesAndAddedTokens) {
  const Tokenizer tokenizer = read(small_tokenizer_json()).value();
  EXPECT_EQ(tokenizer.size(), 258);
  EXPECT_THAT(tokenizer.encode("ab a"), ElementsAre(256, ' ', 'a'));
  EXPECT_THAT(
      tokenizer.encode("<end>", {.parse_special = true}), ElementsAre(257));
  EXPECT_EQ(tokenizer.type(257), PieceType::kControl);
  EXPECT_EQ(tokenizer.find("<end>"), 257);
  EXPECT_EQ(tokenizer.bos(), kNoToken);
}

TEST(TokenizerJson, ReadsMergesAsOlderFilesWriteThem) {
  json document = small_tokenizer_json();
  document["model"]["merges"] = json::array({"a b"});
  EXPECT_THAT(read(document).value().encode("ab"), ElementsAre(256));
  document["model"]["merges"] = json::array({"a  b"});
  EXPECT_THAT(refusal(document), HasSubstr("model.merges[0]: expected two"));
  document["model"]["merges"] = json::array({"ab"});
  EXPECT_THAT(refusal(document), StartsWith("corrupt: t.json: model.merges"));
  document["model"]["merges"] = json::array({json::array({"a"})});
  EXPECT_THAT(refusal(document), HasSubstr("two pieces before, got 1"));
  document["model"]["merges"] = json::array({json::array({"a", "b", "c"})});
  EXPECT_THAT(refusal(document), HasSubstr("got more"));
  document["model"]["merges"] = json::array({7});
  EXPECT_THAT(refusal(document), HasSubstr("two pieces, got another value"));
}

TEST(TokenizerJson, AddsWhatThePostProcessorSays) {
  json document = small_tokenizer_json();
  const json end = {{"SpecialToken", {{"id", "<end>"}, {"type_id", 0}}}};
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  document["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single", json::array({end, text})},
      {"pair", json::array()},
      {"special_tokens",
       {{"<end>", {{"id", "<end>"}, {"ids", {257}}, {"tokens", {"<end>"}}}}}}};
  const Tokenizer before = read(document).value();
  EXPECT_THAT(before.encode("a"), ElementsAre(257, 'a'));
  EXPECT_EQ(before.bos(), 257);
  EXPECT_THAT(
      read(document, {.add_bos = false}).value().encode("a"), ElementsAre('a'));
  document["post_processor"]["single"] = json::array({text, end});
  const Tokenizer behind = read(document).value();
  EXPECT_THAT(behind.encode("a"), ElementsAre('a', 257));
  document["post_processor"]["single"] = json::array({end, end, text});
  EXPECT_THAT(refusal(document), HasSubstr("one token before the text"));
  document["post_processor"]["single"] = json::array({end});
  EXPECT_THAT(refusal(document), HasSubstr("the text once"));
}

TEST(TokenizerJson, TakesNamesFromOtherFiles) {
  const json document = small_tokenizer_json();
  const Tokenizer tokenizer =
      read(document, {.bos = "<end>", .eos = "ab", .add_bos = true}).value();
  EXPECT_EQ(tokenizer.bos(), 257);
  EXPECT_EQ(tokenizer.eos(), 256);
  EXPECT_TRUE(tokenizer.add_bos());
  EXPECT_EQ(
      refusal(document, {.eos = "<eos>", .file = "c.json"}),
      "corrupt: c.json: eos_token: expected a piece of t.json, got \"<eos>\"");
  EXPECT_THAT(refusal(document, {.add_bos = true}), HasSubstr("add_bos_token"));
}

TEST(TokenizerJson, ReadsSmallLettersPrefixesAndReplacements) {
  json document = small_tokenizer_json();
  document["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers",
       json::array(
           {{{"type", "Lowercase"}},
            {{"type", "Replace"},
             {"pattern", {{"Regex", "x+"}}},
             {"content", "b"}},
            {{"type", "Prepend"}, {"prepend", "a"}}})}};
  EXPECT_THAT(read(document).value().encode("XXc"), ElementsAre(256, 'c'));
}

TEST(TokenizerJson, RefusesKindsThatItDoesNotKnow) {
  const std::pair<const char*, json> faults[] = {
      {"/model/type", "Unigram"},
      {"/model/vocab", json::array()},
      {"/model/dropout", 0.1},
      {"/model/continuing_subword_prefix", "##"},
      {"/model/end_of_word_suffix", "</w>"},
      {"/model/new_rule", true},
      {"/new_part", nullptr},
      {"/version", "2.0"},
      {"/normalizer", {{"type", "Precompiled"}}},
      {"/normalizer", {{"type", "BertNormalizer"}}},
      {"/normalizer", {{"type", "NFC"}, {"fast", true}}},
      {"/pre_tokenizer", {{"type", "Whitespace"}}},
      {"/pre_tokenizer/trim", true},
      {"/decoder", {{"type", "WordPiece"}}},
      {"/decoder", {{"type", "Fuse"}}},
      {"/post_processor", {{"type", "BertProcessing"}}},
      {"/added_tokens/0/fast", true},
  };
  for (const auto& [field, value] : faults) {
    json document = small_tokenizer_json();
    document[json::json_pointer(field)] = value;
    EXPECT_THAT(refusal(document), StartsWith("unsupported: t.json: "))
        << field;
  }
}

TEST(TokenizerJson, NamesTheFieldOfAPatternThatItDoesNotRead) {
  json document = small_tokenizer_json();
  document["pre_tokenizer"] = {
      {"type", "Split"},
      {"pattern", {{"Regex", "(a+)+"}}},
      {"behavior", "Isolated"},
      {"invert", false}};
  EXPECT_THAT(
      refusal(document),
      StartsWith(
          "unsupported: t.json: pre_tokenizer.pattern.Regex: expected "));
  document["pre_tokenizer"]["pattern"] = {{"Regex", "a"}, {"String", "a"}};
  EXPECT_THAT(refusal(document), HasSubstr("a Regex or a String"));
  document["pre_tokenizer"]["pattern"] = {{"String", ""}};
  EXPECT_THAT(refusal(document), HasSubstr("not empty"));
}

TEST(TokenizerJson, RefusesWhatContradictsItself) {
  const std::pair<const char*, json> faults[] = {
      {"/model/vocab/ab", 97},
      {"/model/vocab/ab", -1},
      {"/model/vocab/ab", "256"},
      {"/model/vocab/ab", {1}},
      {"/model/merges", nullptr},
      {"/model/merges/0/1", "c"},
      {"/model/unk_token", "<unk>"},
      {"/model/byte_fallback", "yes"},
      {"/added_tokens", nullptr},
      {"/added_tokens/0/id", 97},
      {"/added_tokens/0/content", "ab"},
      {"/added_tokens/0/content", ""},
      {"/added_tokens/0/content", std::string(1025, 'x')},
      {"/added_tokens/0/special", 1},
      {"/pre_tokenizer", "ByteLevel"},
      {"/decoder", nullptr},
  };
  for (const auto& [field, value] : faults) {
    json document = small_tokenizer_json();
    document[json::json_pointer(field)] = value;
    EXPECT_THAT(refusal(document), StartsWith("corrupt: t.json: "))
        << field << " " << value;
  }
}

TEST(TokenizerJson, RefusesAnIdFarBeyondItsPieces) {
  json document = small_tokenizer_json();
  document["added_tokens"][0]["id"] = uint64_t{1} << 40;
  EXPECT_THAT(
      refusal(document), StartsWith("unsupported: t.json: model.vocab"));
  document["added_tokens"][0]["id"] = 1000;
  const Tokenizer tokenizer = read(document).value();
  EXPECT_EQ(tokenizer.size(), 1001);
  EXPECT_EQ(tokenizer.piece(500), "");
  EXPECT_EQ(tokenizer.decode(std::vector{500}), "");
}

TEST(TokenizerJson, RefusesTheLargestIdOfAll) {
  json document = small_tokenizer_json();
  document["model"]["vocab"]["ab"] = UINT64_MAX;
  EXPECT_THAT(refusal(document), testing::HasSubstr("65536 unused"));
}

TEST(TokenizerJson, RefusesNormalizersThatWouldFillTheMemory) {
  json document = small_tokenizer_json();
  const json doubles{
      {"type", "Replace"}, {"pattern", {{"String", "d"}}}, {"content", "dd"}};
  document["normalizer"] = {
      {"type", "Sequence"}, {"normalizers", json::array()}};
  for (int i = 0; i < 60; ++i) {
    document["normalizer"]["normalizers"].push_back(doubles);
  }
  document["added_tokens"][0]["normalized"] = true; // "<end>" has a d
  EXPECT_THAT(refusal(document), testing::HasSubstr("64 MiB"));
}

TEST(TokenizerJson, FindsTheFirstOfAddedTokensThatNormalizingMakesEqual) {
  json document = small_tokenizer_json();
  document["normalizer"] = {{"type", "Lowercase"}};
  document["added_tokens"][0]["normalized"] = true;
  json second = document["added_tokens"][0];
  second["id"] = 258;
  second["content"] = "<END>";
  document["added_tokens"].push_back(second);
  const Tokenizer tokenizer = read(document).value();
  EXPECT_EQ(
      tokenizer.encode("<End>", {.parse_special = true}),
      std::vector<TokenId>{257});
}

TEST(TokenizerJson, RefusesBytesBehindANul) {
  const std::string text = small_tokenizer_json().dump() + '\0' + "{}";
  EXPECT_FALSE(read_tokenizer_json(text, "t.json", {}).ok());
}

TEST(TokenizerJson, RefusesBytesThatAreNoTokenizer) {
  for (const char* bytes :
       {"",
        "[]",
        "7",
        "{",
        "{\"version\":",
        "{\"a\":1,\"a\":2}",
        "\xFF",
        "{\"version\": \"1.0\", \"model\": {\"vocab\": {\"a\": 1, \"b\""}) {
    const auto result = read_tokenizer_json(bytes, "t.json");
    EXPECT_EQ(result.status().code(), ErrorCode::kCorrupt) << bytes;
    EXPECT_THAT(result.status().text(), StartsWith("t.json: expected"));
  }
  const auto deep =
      read_tokenizer_json("{\"a\":" + std::string(100000, '['), "t.json");
  EXPECT_THAT(deep.status().text(), HasSubstr("at most 64"));
}

} // namespace
} // namespace holdfast::test
