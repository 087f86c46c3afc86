// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What families of the decoder make of their settings.

#include "holdfast/models/decoder_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/models/model.h"
#include "tests/models/settings_source.h"

namespace holdfast {
namespace {

using test::SettingMap;
using test::SettingsSource;
using Windows = std::vector<int64_t>;

SettingsSource
source(const char* family, SettingMap settings, int64_t window = 24) {
  ModelConfig config;
  config.family = family;
  config.layers = 3;
  config.hidden = 64;
  config.ffn = 64;
  config.query_heads = 2;
  config.kv_heads = 1;
  config.head_dim = 32;
  config.vocab = 64;
  config.context = 4096;
  config.window = window;
  config.norm_eps = 1e-6;
  return {config, std::move(settings)};
}

std::vector<std::string> types(std::vector<std::string> names) {
  for (std::string& name : names) {
    name += "_attention";
  }
  return names;
}

TEST(LayerWindows, AreWhereLayerTypesSaySoOrTheFamily) {
  const auto odd = [](int64_t layer) { return layer % 2 == 1; };
  EXPECT_EQ(layer_windows(source("llama", {}), odd), Windows({0, 24, 0}));
  EXPECT_EQ(layer_windows(source("llama", {}, 0), odd), Windows({0, 0, 0}));
  const auto stated =
      source("llama", {{"layer_types", types({"sliding", "full", "sliding"})}});
  EXPECT_EQ(layer_windows(stated, odd), Windows({24, 0, 24}));
}

TEST(LayerWindows, RefuseTypesThatAreNotOneALayerOrUnknown) {
  const auto text = [](std::vector<std::string> names, int64_t window = 24) {
    try {
      layer_windows(
          source("llama", {{"layer_types", types(std::move(names))}}, window),
          [](int64_t) { return false; });
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(
      text({"full", "full"}),
      testing::HasSubstr("layer_types: expected 3 words"));
  EXPECT_THAT(
      text({"full", "chunked", "full"}),
      testing::HasSubstr("got \"chunked_attention\""));
  EXPECT_THAT(
      text({"full", "sliding", "full"}, 0),
      testing::HasSubstr("sliding_window: expected at least 1"));
}

/// What a family says of its settings; "no tensors" where it takes them.
std::string answer(const char* family, SettingMap settings) {
  const Runtime runtime{std::make_shared<Executor>(1), KernelPath::kPlain};
  try {
    make_model(source(family, std::move(settings)), runtime);
  } catch (const Error& error) {
    return error.code() == ErrorCode::kNotFound ? "no tensors" : error.what();
  }
  return "a model";
}

const SettingMap kMixture{
    {"num_experts", int64_t{4}},
    {"num_local_experts", int64_t{4}},
    {"num_experts_per_tok", int64_t{2}},
    {"moe_intermediate_size", int64_t{32}}};

SettingMap with(const char* name, Setting value) {
  SettingMap settings = kMixture;
  settings[name] = std::move(value);
  return settings;
}

TEST(Decoder, TakesTheSettingsThatItKnows) {
  for (const char* family :
       {"llama",
        "mistral",
        "qwen2",
        "qwen3",
        "phi3",
        "gemma2",
        "qwen3_moe",
        "gpt_oss"}) {
    EXPECT_EQ(answer(family, kMixture), "no tensors") << family;
  }
}

TEST(Decoder, RefusesWhatItCannotRunByTheNameOfTheSetting) {
  const auto refuses = [](const char* family, const char* name, Setting value) {
    EXPECT_THAT(
        answer(family, with(name, std::move(value))),
        testing::HasSubstr(
            std::string("[settings] config.json: ") + name + ": expected"))
        << family;
  };
  refuses("llama", "hidden_act", std::string("relu"));
  refuses("llama", "rope_traditional", true);
  refuses("llama", "attention_bias", std::string("yes"));
  refuses("phi3", "attention_bias", true);
  refuses("gemma2", "hidden_activation", std::string("silu"));
  refuses("gemma2", "query_pre_attn_scalar", 0.0);
  refuses("gemma2", "attn_logit_softcapping", -1.0);
  refuses("qwen3_moe", "num_experts_per_tok", int64_t{5});
  refuses("qwen3_moe", "num_experts_per_tok", int64_t{0});
  refuses("qwen3_moe", "moe_intermediate_size", int64_t{0});
  refuses("qwen3_moe", "decoder_sparse_step", int64_t{0});
  refuses("gpt_oss", "swiglu_limit", 5.0);
  refuses("gpt_oss", "num_local_experts", std::monostate());
}

} // namespace
} // namespace holdfast
