// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "holdfast/formats/tokenizer_folder.h"
#include "tests/folder_fixture.h"
#include "tests/formats/tokenizer_json_support.h"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TokenizerFolder : public test::FolderFixture {
 protected:
  TokenizerFolder() {
    write("tokenizer.json", small_tokenizer_json());
  }

  using FolderFixture::write;
  void write(const std::string& name, const json& document) const {
    write(name, document.dump());
  }
  FolderTokenizer read() const {
    return read_tokenizer_folder(folder_).value();
  }
  Status status() const {
    return read_tokenizer_folder(folder_).status();
  }
};

TEST_F(TokenizerFolder, NeedsATokenizerAlone) {
  const FolderTokenizer folder = read();
  EXPECT_EQ(folder.tokenizer.size(), 258);
  EXPECT_THAT(folder.end_ids, IsEmpty());
  EXPECT_EQ(folder.chat_template, "");
  std::filesystem::remove(folder_ + "/tokenizer.json");
  EXPECT_EQ(status().code(), ErrorCode::kNotFound);
  EXPECT_THAT(status().text(), HasSubstr("this file or tokenizer.model"));
}

TEST_F(TokenizerFolder, TakesEndsFromAllFilesThatNameThem) {
  write("tokenizer_config.json", json{{"eos_token", "<end>"}});
  write("config.json", json{{"eos_token_id", 7}});
  EXPECT_THAT(read().end_ids, ElementsAre(7, 257));
  EXPECT_FALSE(read().generation);
  write("generation_config.json", json{{"eos_token_id", {256, 257}}});
  EXPECT_THAT(read().end_ids, ElementsAre(256, 257));
  EXPECT_EQ(read().generation, R"({"eos_token_id":[256,257]})");
  write("generation_config.json", json{{"eos_token_id", 258}});
  EXPECT_EQ(status().code(), ErrorCode::kCorrupt);
  EXPECT_THAT(
      status().text(),
      HasSubstr("generation_config.json: eos_token_id: expected the id of a "
                "token, below 258, got 258"));
}

TEST_F(TokenizerFolder, TakesNamesFromTheMapWhereTheConfigHasNone) {
  write(
      "special_tokens_map.json",
      json{{"bos_token", {{"content", "<end>"}}}, {"eos_token", "ab"}});
  write("tokenizer_config.json", json{{"eos_token", "<end>"}});
  const FolderTokenizer folder = read();
  EXPECT_EQ(folder.tokenizer.bos(), 257);
  EXPECT_EQ(folder.tokenizer.eos(), 257);
}

TEST_F(TokenizerFolder, AddsBosByFlagWhereTheClassDoes) {
  json config{
      {"bos_token", "<end>"},
      {"add_bos_token", true},
      {"tokenizer_class", "PreTrainedTokenizerFast"}};
  write("tokenizer_config.json", config);
  EXPECT_FALSE(read().tokenizer.add_bos());
  config["tokenizer_class"] = "LlamaTokenizerFast";
  write("tokenizer_config.json", config);
  EXPECT_TRUE(read().tokenizer.add_bos());
}

TEST_F(TokenizerFolder, PrefersTheTemplateThatIsAFile) {
  write("tokenizer_config.json", json{{"chat_template", "one"}});
  EXPECT_EQ(read().chat_template, "one");
  write(
      "tokenizer_config.json",
      json{
          {"chat_template",
           {{{"name", "tool_use"}, {"template", "tools"}},
            {{"name", "default"}, {"template", "two"}}}}});
  EXPECT_EQ(read().chat_template, "two");
  write("chat_template.jinja", std::string("three"));
  EXPECT_EQ(read().chat_template, "three");
  write("chat_template.jinja", std::string("\xFF"));
  EXPECT_THAT(
      status().text(), HasSubstr("chat_template.jinja: expected UTF-8"));
  std::filesystem::remove(folder_ + "/chat_template.jinja");
  write(
      "tokenizer_config.json",
      json{{"chat_template", {{{"name", "rag"}, {"template", "x"}}}}});
  EXPECT_EQ(status().code(), ErrorCode::kUnsupported);
}

TEST_F(TokenizerFolder, RefusesAddedTokensThatItsTokenizerHasNot) {
  const auto added = [&](const char* id, const char* text) {
    write(
        "tokenizer_config.json",
        json{{"added_tokens_decoder", {{id, {{"content", text}}}}}});
    return status().text();
  };
  EXPECT_EQ(added("257", "<end>"), "");
  for (const auto& [id, text] :
       {std::pair("258", "<more>"),
        std::pair("257", "<more>"),
        std::pair("256", "<end>")}) {
    EXPECT_THAT(
        added(id, text),
        HasSubstr(
            "tokenizer_config.json: added_tokens_decoder." + std::string(id) +
            ": expected a piece of tokenizer.json of this id and text"));
  }
  write("tokenizer_config.json", json{{"split_special_tokens", true}});
  EXPECT_EQ(status().code(), ErrorCode::kUnsupported);
}

/// A message's field of bytes.
std::string proto(char field, const std::string& value) {
  return std::string{
             static_cast<char>(field << 3 | 2),
             static_cast<char>(value.size())} +
      value;
}

// Folders of before added_tokens_decoder.
TEST_F(TokenizerFolder, TakesAddedTokensFromTheirOwnFileBesideAModel) {
  std::filesystem::remove(folder_ + "/tokenizer.json");
  const auto piece = [](const std::string& text, char type) {
    return proto(1, proto(1, text) + std::string{3 << 3, type});
  };
  write(
      "tokenizer.model",
      piece("<unk>", 2) + piece("<s>", 3) + piece("</s>", 3) + piece("a", 1) +
          proto(2, std::string{3 << 3, 2}) +
          proto(3, std::string{3 << 3, 0, 4 << 3, 0}));
  write("tokenizer_config.json", json{{"add_bos_token", false}});
  write("added_tokens.json", json{{"<|im_start|>", 4}, {"<|im_end|>", 6}});
  write(
      "special_tokens_map.json",
      json{{"additional_special_tokens", {"<|im_start|>"}}});
  const Tokenizer tokenizer = read().tokenizer;
  EXPECT_EQ(tokenizer.size(), 7);
  EXPECT_EQ(tokenizer.type(4), PieceType::kControl);
  EXPECT_EQ(tokenizer.type(6), PieceType::kUserDefined);
  EXPECT_THAT(
      tokenizer.encode("<|im_start|>a<|im_end|>a", {.parse_special = true}),
      ElementsAre(4, 3, 6, 3));
  for (const json& ids :
       {json{{"<more>", 3}}, json{{"<more>", 1e9}}, json{{"<more>", "4"}}}) {
    write("added_tokens.json", ids);
    EXPECT_EQ(status().code(), ErrorCode::kCorrupt) << ids;
    EXPECT_THAT(status().text(), HasSubstr("/added_tokens.json: ")) << ids;
  }
  // What the configuration says holds alone.
  write(
      "tokenizer_config.json",
      json{{"added_tokens_decoder", {{"4", {{"content", "<x>"}}}}}});
  EXPECT_EQ(read().tokenizer.size(), 5);
}

TEST_F(TokenizerFolder, NamesTheFileAndTheFieldOfAFault) {
  const std::pair<const char*, json> faults[] = {
      {"tokenizer_config.json", {{"eos_token", 7}}},
      {"tokenizer_config.json", {{"eos_token", {{"text", "x"}}}}},
      {"tokenizer_config.json", {{"eos_token", "<none>"}}},
      {"tokenizer_config.json", {{"chat_template", 7}}},
      {"tokenizer_config.json", {{"add_bos_token", "yes"}}},
      {"generation_config.json", {{"eos_token_id", "x"}}},
      {"generation_config.json", {{"eos_token_id", {-1}}}},
      {"config.json", json::array()},
  };
  for (const auto& [file, document] : faults) {
    write(file, document);
    EXPECT_EQ(status().code(), ErrorCode::kCorrupt) << document;
    EXPECT_THAT(status().text(), HasSubstr(std::string(file) + ": "));
    std::filesystem::remove(folder_ + "/" + file);
  }
  write("tokenizer_config.json", std::string("{\"a\":"));
  EXPECT_THAT(status().text(), HasSubstr("expected JSON, got an error at"));
}

} // namespace
} // namespace holdfast::test
