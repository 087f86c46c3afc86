// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/json_settings.h"

#include <string>

#include <gtest/gtest.h>

#include "holdfast/engine/folder_config.h"

namespace holdfast {
namespace {

Settings parsed(const std::string& json) {
  return {"f", parse_json_settings(json, "f")};
}

TEST(JsonSettings, ReadsEachTypeAndWhatLiesInObjects) {
  const Settings s = parsed(
      R"({"a": {"b": {"c": 3}, "d": "word"}, "e": [1, 2.5], "f": ["x"],
          "g": [], "h": true, "i": null, "j": 18446744073709551615,
          "k": -4, "l": [[1]], "m": [{"n": 1}], "o": [1, "x"], "p": [true]})");
  EXPECT_EQ(s.size("a.b.c"), 3);
  EXPECT_EQ(s.text("a.d"), "word");
  EXPECT_TRUE(s.is_object("a.b"));
  EXPECT_EQ(s.numbers("e"), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(s.texts("f"), (std::vector<std::string>{"x"}));
  EXPECT_TRUE(s.numbers("g").empty() && s.texts("g").empty());
  EXPECT_TRUE(s.is_flag("h") && s.flag("h", false));
  EXPECT_FALSE(s.has("i"));
  EXPECT_EQ(s.number("j"), 18446744073709551616.0);
  EXPECT_EQ(s.number("k"), -4);
  for (const char* list : {"l", "m", "o", "p"}) {
    EXPECT_TRUE(s.is_object(list)) << list;
    EXPECT_THROW(s.numbers(list), Error);
  }
  EXPECT_FALSE(s.has("m.n") || s.has("n"));
  EXPECT_EQ(s.names("a."), (std::vector<std::string>{"a.b", "a.b.c", "a.d"}));
}

TEST(JsonSettings, RefusesInOneLineWhatIsNoObjectOrSaysAThingTwice) {
  std::string deep, list = R"({"a":)";
  for (int i = 0; i < 100000; ++i) {
    deep += R"({"a":)";
    list += '[';
  }
  for (const std::string& json :
       {std::string(),
        std::string("[]"),
        std::string("3"),
        std::string("null"),
        std::string("{"),
        std::string(R"({"a":1}})"),
        std::string(R"({"a"})"),
        std::string(R"({"a":1,"a":2})"),
        std::string(R"({"a":{"b":1},"a.b":2})"),
        std::string(R"({"a":1})") + '\0',
        deep,
        list}) {
    try {
      parse_json_settings(json, "FILE");
      ADD_FAILURE() << json.substr(0, 40);
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
      EXPECT_TRUE(text.starts_with("FILE: ")) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos);
      EXPECT_LT(text.size(), 400u);
    }
  }
}

TEST(JsonSettings, ShowNamesAndTextsOfAFileInOneLine) {
  const Settings s = parsed(R"({"a\nb": "c\nd"})");
  try {
    s.size("a\nb");
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("a\\x0ab: expected"), std::string::npos) << text;
    EXPECT_NE(text.find("got \"c\\x0ad\""), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST(FolderConfig, NamesTheFieldThatIsWrong) {
  const std::string good =
      R"({"model_type": "x", "hidden_size": 64, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2,
          "vocab_size": 10, "rms_norm_eps": 1e-6})";
  EXPECT_EQ(
      folder_model_config(parse_folder_settings(good, "config.json")).head_dim,
      16);
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    try {
      folder_model_config(parse_folder_settings(text, "config.json"));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no refusal");
  };
  for (const auto& [from, to, field] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {R"("x")", "3", "model_type"},
           {R"("model_type")", R"("type")", "model_type"},
           {"64", "0", "hidden_size"},
           {"64", "1e3", "hidden_size"},
           {"64", "\"64\"", "hidden_size"},
           {"64", "3", "head_dim"},
           {": 4", ": -4", "num_attention_heads"},
           {"_heads\": 2", "_heads\": 3", "num_key_value_heads"},
           {"10", "4000000000", "vocab_size"},
           {"10", "1048577", "vocab_size"},
           {"1e-6", "null", "rms_norm_eps"}}) {
    EXPECT_NE(
        refused(from, to).find("config.json: " + field + ": expected"),
        std::string::npos)
        << refused(from, to);
  }
}

// As gemma-3-4b is published; null says that there is none.
TEST(FolderConfig, KnowsWhatPublishedConfigurationsLeaveOut) {
  const auto config = [](const std::string& text) {
    return folder_model_config(parse_folder_settings(text, "config.json"));
  };
  const ModelConfig gemma3 = config(R"({"model_type": "gemma3", "text_config": {
      "model_type": "gemma3_text", "hidden_size": 2560,
      "intermediate_size": 10240, "num_hidden_layers": 34,
      "sliding_window": 1024}})");
  EXPECT_EQ(gemma3.family, "gemma3_text");
  EXPECT_EQ(gemma3.query_heads, 8);
  EXPECT_EQ(gemma3.kv_heads, 4);
  EXPECT_EQ(gemma3.head_dim, 256);
  EXPECT_EQ(gemma3.vocab, 262208);
  EXPECT_EQ(gemma3.norm_eps, 1e-6);
  EXPECT_EQ(gemma3.window, 1024);
  const std::string mistral =
      R"({"model_type": "mistral", "hidden_size": 64, "num_hidden_layers": 2,
          "num_attention_heads": 4, "vocab_size": 10, "rms_norm_eps": 1e-5)";
  EXPECT_EQ(config(mistral + "}").window, 4096);
  EXPECT_EQ(config(mistral + R"(, "sliding_window": null})").window, 0);
  EXPECT_EQ(config(mistral + R"(, "sliding_window": 24})").window, 24);
}

} // namespace
} // namespace holdfast
