// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Against ids and texts that the tokenizers library computed with each family's
// settings over small vocabularies: tests/oracle/tokenizer_forms.py writes the
// file, in which the vocabularies stand once.

#include <gtest/gtest.h>

#include <fstream>

#include "tests/formats/tokenizer_json_support.h"

namespace holdfast::test {
namespace {

const json& golden() {
  static const json document = [] {
    std::ifstream file(HOLDFAST_TEST_DATA "/tokenizer_families.json");
    EXPECT_TRUE(file.good());
    return json::parse(file);
  }();
  return document;
}

Tokenizer tokenizer_of(const json& family) {
  json document = family["file"];
  document["model"].update(
      golden()["vocabularies"][family["vocabulary"].get<std::string>()]);
  return read(document).value();
}

TEST(TokenizerFamilies, GetTheIdsThatTheTokenizersLibraryGives) {
  ASSERT_EQ(golden()["families"].size(), 25u);
  for (const auto& [name, family] : golden()["families"].items()) {
    const Tokenizer tokenizer = tokenizer_of(family);
    for (const json& text : family["texts"]) {
      EXPECT_EQ(
          tokenizer.encode(
              text["text"].get<std::string>(), {.parse_special = true}),
          text["ids"].get<std::vector<TokenId>>())
          << name << ": " << text["text"];
    }
  }
}

TEST(TokenizerFamilies, GetTheTextsThatTheTokenizersLibraryGives) {
  for (const auto& [name, family] : golden()["families"].items()) {
    const Tokenizer tokenizer = tokenizer_of(family);
    for (const json& text : family["texts"]) {
      const auto ids = text["ids"].get<std::vector<TokenId>>();
      Detokenizer detokenizer(tokenizer, {.show_special = true});
      std::string streamed;
      for (const TokenId id : ids) {
        streamed += detokenizer.push(id);
      }
      streamed += detokenizer.flush();
      EXPECT_EQ(streamed, text["decoded"].get<std::string>())
          << name << ": " << text["text"];
    }
  }
}

} // namespace
} // namespace holdfast::test
