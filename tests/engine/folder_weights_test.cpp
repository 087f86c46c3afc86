// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <filesystem>

#include <gtest/gtest.h>

#include "mlx/mlx.h"

#include "holdfast/engine/folder_weights.h"
#include "tests/code_of.h"
#include "tests/folder_fixture.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
namespace mx = mlx::core;
using Tensors = std::unordered_map<std::string, mx::array>;

const char* const kConfig = R"({
  "model_type": "wide", "tie_word_embeddings": true,
  "text_config": {
    "model_type": "wide_text", "hidden_size": 6, "num_hidden_layers": 2,
    "num_attention_heads": 3, "num_key_value_heads": 1, "vocab_size": 10,
    "rms_norm_eps": 1e-6, "head_dim": null, "layer_types": ["a", "b"],
    "rope_parameters": {"rope_theta": 10000, "rope_type": "default"},
    "sizes": [1, 2]
  }})";

class FolderWeightsTest : public test::FolderFixture {
 protected:
  FolderWeightsTest() {
    write("config.json", kConfig);
  }
  void save(const std::string& name, const Tensors& tensors) const {
    mx::save_safetensors(folder_ + "/" + name, tensors);
  }
  FolderWeights open() const {
    return {folder_, std::make_shared<Executor>(2)};
  }
};

mx::array counting(const mx::Shape& shape, mx::Dtype dtype) {
  int count = 1;
  for (const int size : shape) {
    count *= size;
  }
  return mx::astype(mx::reshape(mx::arange(count), shape), dtype);
}

TEST_F(FolderWeightsTest, GivesTensorsOfEachTypeByTheirShortNames) {
  save(
      "model-00001-of-00002.safetensors",
      {{"model.language_model.layers.0.up.weight",
        counting({4, 6}, mx::bfloat16)},
       {"language_model.model.norm.weight", counting({6}, mx::float32)}});
  save(
      "model-00002-of-00002.safetensors",
      {{"model.embed.weight", counting({2, 6}, mx::float16)},
       {"lm_head.weight", counting({2, 3, 1}, mx::float16)}});
  const FolderWeights weights = open();
  EXPECT_TRUE(weights.has("layers.0.up.weight"));
  EXPECT_FALSE(weights.has("model.embed.weight"));
  EXPECT_EQ(weights.dims("lm_head.weight"), (std::vector<int64_t>{2, 3, 1}));
  const cpu::Weight up = weights.matrix("layers.0.up.weight", 4, 6);
  EXPECT_EQ(up.format().kind, cpu::WeightFormat::Kind::kBf16);
  std::vector<float> row(6);
  up.read_row(3, row.data());
  EXPECT_EQ(row, (std::vector<float>{18, 19, 20, 21, 22, 23}));
  const cpu::Weight embed = weights.matrix("embed.weight", 2, 6);
  EXPECT_EQ(embed.format().kind, cpu::WeightFormat::Kind::kF32);
  embed.read_row(1, row.data());
  EXPECT_EQ(row, (std::vector<float>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(
      weights.vector("norm.weight", 6), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(
      weights.vector("lm_head.weight", 6),
      (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST_F(FolderWeightsTest, ReadsTheSettingsOfTheLanguagePart) {
  save("model.safetensors", {{"a", counting({2}, mx::float32)}});
  const FolderWeights weights = open();
  EXPECT_EQ(weights.config().family, "wide");
  EXPECT_EQ(weights.config().hidden, 6);
  EXPECT_EQ(weights.config().head_dim, 2);
  EXPECT_EQ(weights.config().kv_heads, 1);
  const Settings& settings = weights.settings();
  EXPECT_EQ(settings.number("rope_parameters.rope_theta"), 10000.0);
  EXPECT_EQ(settings.text("rope_parameters.rope_type"), "default");
  EXPECT_EQ(
      settings.texts("layer_types"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(settings.flag("tie_word_embeddings", false));
  EXPECT_FALSE(settings.has("head_dim"));
  EXPECT_EQ(settings.size("head_dim", 7), 7);
}

TEST_F(FolderWeightsTest, NamesTheSettingThatIsWrong) {
  save("model.safetensors", {{"a", counting({2}, mx::float32)}});
  const FolderWeights weights = open();
  const Settings& settings = weights.settings();
  for (const auto& [name, call] :
       std::vector<std::pair<std::string, std::function<void()>>>{
           {"absent", [&] { settings.size("absent"); }},
           {"rms_norm_eps", [&] { settings.size("rms_norm_eps", 1); }},
           {"layer_types", [&] { settings.number("layer_types"); }},
           {"vocab_size", [&] { settings.flag("vocab_size", true); }},
           {"sizes", [&] { settings.texts("sizes"); }},
           {"hidden_size", [&] { settings.text("hidden_size"); }}}) {
    try {
      call();
      ADD_FAILURE() << "expected a refusal of " << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
      const std::string text = error.what();
      EXPECT_NE(text.find(name + ": expected"), std::string::npos) << text;
      EXPECT_NE(text.find("config.json"), std::string::npos) << text;
    }
  }
}

TEST_F(FolderWeightsTest, TakesNullForAbsentButNoListOrObject) {
  save("model.safetensors", {{"a", counting({2}, mx::float32)}});
  const std::string heads = "\"num_key_value_heads\": ";
  const auto set = [&](const std::string& value) {
    std::string config = kConfig;
    config.replace(config.find(heads), heads.size() + 1, heads + value);
    write("config.json", config);
  };
  set("null");
  EXPECT_EQ(open().config().kv_heads, 3);
  for (const char* value : {"[4, 8]", "[[\"a\"]]", "{\"full\": 4}"}) {
    set(value);
    try {
      open();
      ADD_FAILURE() << "expected a refusal of " << value;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
      EXPECT_NE(
          std::string(error.what()).find("num_key_value_heads: expected"),
          std::string::npos)
          << error.what();
    }
  }
}

TEST_F(FolderWeightsTest, RefusesWhatIsNotThereOrHasAnotherShape) {
  save(
      "model.safetensors",
      {{"a", counting({4, 6}, mx::float32)},
       {"codes", counting({4, 6}, mx::uint32)}});
  const FolderWeights weights = open();
  EXPECT_EQ(code_of([&] { weights.matrix("b", 4, 6); }), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of([&] { weights.matrix("a", 6, 4); }), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of([&] { weights.vector("a", 23); }), ErrorCode::kCorrupt);
  EXPECT_EQ(
      code_of([&] { weights.matrix("codes", 4, 6); }), ErrorCode::kUnsupported);
  EXPECT_EQ(weights.matrix("a", 4, 6).n(), 4);
}

TEST_F(FolderWeightsTest, RefusesCodesThatAreNoRows) {
  std::string config = kConfig;
  config.insert(1, R"("quantization": {"bits": 4, "group_size": 32},)");
  write("config.json", config);
  save(
      "model.safetensors",
      {{"a.weight", mx::array(7u)},
       {"a.scales", mx::array(1.0f)},
       {"a.biases", mx::array(0.0f)}});
  const FolderWeights weights = open();
  EXPECT_EQ(
      code_of([&] { weights.matrix("a.weight", 1, 32); }), ErrorCode::kCorrupt);
  EXPECT_EQ(
      code_of([&] { weights.vector("a.weight", 32); }), ErrorCode::kCorrupt);
}

TEST_F(FolderWeightsTest, RefusesFoldersAndFilesThatAreNotModels) {
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::kNotFound); // no tensors
  write("model.safetensors", "not one");
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::kCorrupt);
  save("model.safetensors", {{"a", counting({64, 64}, mx::float32)}});
  fs::resize_file(folder_ + "/model.safetensors", 5000);
  EXPECT_NE(code_of([&] { open().matrix("a", 64, 64); }), ErrorCode::kOk);
  save(
      "model.safetensors",
      {{"model.a", counting({2}, mx::float32)},
       {"a", counting({2}, mx::float32)}});
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::kCorrupt); // twice
  for (const char* config : {"", "[]", "{", R"({"model_type": 3})"}) {
    write("config.json", config);
    EXPECT_EQ(code_of([&] { open(); }), ErrorCode::kCorrupt) << config;
  }
  fs::remove(folder_ + "/config.json");
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::kNotFound);
}

} // namespace
} // namespace holdfast
