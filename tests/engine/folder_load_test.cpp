// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Whole model folders: small models of each family as they are kept, with
// another setting, or with a tensor more.

#include <filesystem>
#include <fstream>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "holdfast/engine/load.h"
#include "tests/code_of.h"
#include "tests/folder_fixture.h"
#include "tests/models/folder_rig.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// A copy of a family's small model to change, gone with the test.
class FolderLoad : public FolderFixture {
 protected:
  void take(const std::string& family) {
    for (const char* name : {"config.json", "model.safetensors"}) {
      fs::copy_file(
          model_folder(family) + "/" + name,
          folder_ + "/" + name,
          fs::copy_options::overwrite_existing);
    }
  }
  /// null: the setting is null; discarded: it goes.
  void set(const std::string& name, const json& value) const {
    json config = json::parse(std::ifstream(folder_ + "/config.json"));
    config[name] = value;
    if (value.is_discarded()) {
      config.erase(name);
    }
    write("config.json", config.dump());
  }
  /// Beside the model's own.
  void add(const std::string& name, const mx::Shape& shape) const {
    const std::string file = folder_ + "/model.safetensors";
    auto tensors = mx::load_safetensors(file).first;
    for (auto& [own, array] : tensors) {
      mx::eval({array});
    }
    tensors.insert_or_assign(name, mx::ones(shape));
    mx::save_safetensors(file, tensors);
  }
  std::unique_ptr<const Model> load() const {
    return load_weights(
        folder_, {std::make_shared<Executor>(1), best_kernel_path()});
  }
  std::string refusal() const {
    try {
      load();
    } catch (const Error& error) {
      return error.what();
    }
    return "a model";
  }
  AttentionSpec layer(size_t index) const {
    return std::get<AttentionSpec>(load()->layers()[index]);
  }
};

TEST_F(FolderLoad, TakesEveryTensorOfEachFamily) {
  std::vector<std::string> all(std::begin(kFamilies), std::end(kFamilies));
  all.emplace_back("gpt_oss/mxfp4");
  for (const std::string& family : all) {
    take(family);
    EXPECT_EQ(refusal(), "a model") << family;
  }
}

TEST_F(FolderLoad, RefusesATensorThatEveryAnswerWouldLack) {
  for (const char* name :
       {"model.layers.0.self_attn.q_proj.bias",
        "model.layers.1.self_attn.q_norm.weight",
        "model.layers.2.input_layernorm.weight", // of a layer more
        "language_model.model.norm.bias",
        "lm_head.bias"}) {
    take("llama");
    add(name, {64});
    EXPECT_THAT(
        refusal(),
        AllOf(
            HasSubstr("/model.safetensors: tensor " + std::string(name)),
            HasSubstr("expected tensors of the family \"llama\"")));
  }
}

TEST_F(FolderLoad, PassesOverTensorsThatAnswersDoNotNeed) {
  take("llama"); // tied
  add("lm_head.weight", {64, 64});
  add("model.layers.0.self_attn.rotary_emb.inv_freq", {16});
  add("vision_tower.layers.0.weight", {4});
  add("mtp.layers.0.weight", {4});
  EXPECT_EQ(refusal(), "a model");
}

TEST_F(FolderLoad, TakesNullForNoCapOfGemma2) {
  take("gemma2");
  EXPECT_EQ(layer(0).softcap, 5.0f);
  set("attn_logit_softcapping", nullptr);
  EXPECT_EQ(layer(0).softcap, 0.0f);
  set("attn_logit_softcapping", json(json::value_t::discarded));
  EXPECT_EQ(layer(0).softcap, 50.0f);
}

TEST_F(FolderLoad, GivesLayersTheWindowsThatFamiliesHaveBySilence) {
  take("qwen2"); // three layers, the first full
  EXPECT_EQ(layer(1).visibility.window, 24);
  set("max_window_layers", json(json::value_t::discarded)); // 28
  EXPECT_EQ(layer(1).visibility.window, 0);
  take("mistral");
  EXPECT_EQ(layer(0).visibility.window, 24);
  set("sliding_window", nullptr);
  EXPECT_EQ(layer(0).visibility.window, 0);
  set("sliding_window", json(json::value_t::discarded));
  EXPECT_EQ(layer(0).visibility.window, 4096);
}

// Sizes that no tensor bears out are refused before anything is made of them.
TEST_F(FolderLoad, RefusesSizesThatNoModelHas) {
  for (const char* name :
       {"num_hidden_layers", "head_dim", "hidden_size", "vocab_size"}) {
    take("llama");
    set(name, (int64_t{1} << 31) - 2);
    EXPECT_THAT(
        refusal(),
        HasSubstr(
            "config.json: " + std::string(name) +
            ": expected 1 to 1048576, got 2147483646"));
  }
}

TEST_F(FolderLoad, RefusesRopesThatNoHeadHas) {
  const auto refused = [&](const char* family, json parameters) {
    take(family);
    json config = json::parse(std::ifstream(folder_ + "/config.json"));
    json& part =
        config.contains("text_config") ? config["text_config"] : config;
    part["rope_parameters"].update(parameters, true);
    write("config.json", config.dump());
    return refusal();
  };
  EXPECT_THAT(
      refused("qwen35", {{"partial_rotary_factor", 4.0}}),
      HasSubstr("config.json: partial_rotary_factor: expected a part of 32"));
  EXPECT_THAT(
      refused("qwen35", {{"partial_rotary_factor", 1e300}}),
      HasSubstr("config.json: partial_rotary_factor: expected"));
  EXPECT_THAT(
      refused("qwen35", {{"rope_theta", -1.0}}),
      HasSubstr("config.json: rope_parameters.rope_theta: expected from 1"));
  EXPECT_THAT(
      refused("gemma4", {{"full_attention", {{"rope_theta", 0}}}}),
      HasSubstr("rope_parameters.full_attention.rope_theta: expected from 1"));
  EXPECT_THAT(
      refused("gemma4", {{"full_attention", {{"factor", 0}}}}),
      HasSubstr("rope_parameters.full_attention.factor: expected from 1e-6"));
  take("latent");
  set("rope_theta", 0);
  EXPECT_THAT(refusal(), HasSubstr("config.json: rope_theta: expected from 1"));
  take("latent");
  set("kv_lora_rank", (int64_t{1} << 31) - 1);
  EXPECT_THAT(refusal(), HasSubstr("head sizes and ranks from 1 to 1048576"));
}

} // namespace
} // namespace holdfast::test
