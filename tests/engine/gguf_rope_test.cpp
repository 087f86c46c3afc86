// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What keys and tensors of a GGUF file say of its ropes.

#include "holdfast/engine/gguf_rope.h"

#include <cmath>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/formats/gguf_writer.h"

namespace holdfast {
namespace {

using test::GgufImage;
using testing::HasSubstr;

Settings settings_of(const std::function<void(GgufImage&)>& add) {
  GgufImage image;
  image.add_tensor("t", GgufType::kF32, {1});
  add(image);
  const std::string bytes = image.bytes();
  const auto file = GgufFile::parse(std::as_bytes(std::span(bytes)), "f");
  SettingValues values;
  ModelConfig config;
  config.context = 4096;
  add_gguf_rope(file.value(), "x.", config, values);
  return {"f", std::move(values)};
}

void put(GgufImage& image, const std::string& key, float value) {
  image.add<float>("x.rope." + key, GgufValue::kF32, value);
}

std::string error_of(const std::function<void(GgufImage&)>& add) {
  try {
    settings_of(add);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(GgufRope, TurnsByTheFormatsBaseWhereNoKeySays) {
  const Settings plain = settings_of([](GgufImage&) {});
  EXPECT_EQ(plain.number("rope_theta"), 10000.0);
  EXPECT_EQ(plain.text("rope_scaling.rope_type"), "none");
  const Settings stated =
      settings_of([](GgufImage& image) { put(image, "freq_base", 5e5f); });
  EXPECT_EQ(stated.number("rope_theta"), 5e5);
}

TEST(GgufRope, ScalesEvenlyByAFactorAlone) {
  for (const char* key : {"scaling.factor", "scale_linear"}) {
    const Settings scaled =
        settings_of([&](GgufImage& image) { put(image, key, 4.0f); });
    EXPECT_EQ(scaled.text("rope_scaling.rope_type"), "linear") << key;
    EXPECT_EQ(scaled.number("rope_scaling.factor"), 4.0) << key;
    const Settings by_nothing =
        settings_of([&](GgufImage& image) { put(image, key, 0.0f); });
    EXPECT_EQ(by_nothing.text("rope_scaling.rope_type"), "none") << key;
  }
  const Settings none = settings_of([](GgufImage& image) {
    image.add_text("x.rope.scaling.type", "none");
    put(image, "scaling.factor", 4.0f);
  });
  EXPECT_EQ(none.text("rope_scaling.rope_type"), "none");
}

TEST(GgufRope, KnowsLongFactorsByTheirTensor) {
  const Settings scaled = settings_of([](GgufImage& image) {
    image.add_tensor("rope_factors_long.weight", GgufType::kF32, {8});
    put(image, "scaling.attn_factor", 1.19f);
    image.add<uint32_t>(
        "x.rope.scaling.original_context_length", GgufValue::kU32, 1024);
  });
  EXPECT_EQ(scaled.text("rope_scaling.rope_type"), "longrope");
  EXPECT_FLOAT_EQ(
      static_cast<float>(scaled.number("rope_scaling.attention_factor")),
      1.19f);
  EXPECT_EQ(scaled.size("rope_scaling.original_max_position_embeddings"), 1024);
}

TEST(GgufRope, ReadsAllThatYarnIsSetBy) {
  const auto yarn = [](GgufImage& image) {
    image.add_text("x.rope.scaling.type", "yarn");
    put(image, "scaling.factor", 4.0f);
  };
  const Settings least = settings_of(yarn);
  EXPECT_EQ(least.number("rope_scaling.factor"), 4.0);
  EXPECT_EQ(least.size("rope_scaling.original_max_position_embeddings"), 4096);
  EXPECT_FALSE(least.has("rope_scaling.attention_factor"));
  const Settings most = settings_of([&](GgufImage& image) {
    yarn(image);
    put(image, "scaling.yarn_beta_fast", 16.0f);
    put(image, "scaling.yarn_beta_slow", 2.0f);
    put(image, "scaling.yarn_attn_factor", 1.5f);
    put(image, "scaling.yarn_ext_factor", 1.0f);
  });
  EXPECT_EQ(most.number("rope_scaling.beta_fast"), 16.0);
  EXPECT_EQ(most.number("rope_scaling.beta_slow"), 2.0);
  EXPECT_EQ(most.number("rope_scaling.attention_factor"), 1.5);
  const Settings beside = settings_of([&](GgufImage& image) {
    yarn(image);
    put(image, "scaling.attn_factor", 2.0f);
  });
  EXPECT_DOUBLE_EQ(
      beside.number("rope_scaling.attention_factor"),
      2.0 * (1.0 + 0.1 * std::log(4.0)));
  EXPECT_THAT(
      error_of([&](GgufImage& image) {
        yarn(image);
        put(image, "scaling.yarn_ext_factor", 0.5f);
      }),
      HasSubstr("x.rope.scaling.yarn_ext_factor"));
}

TEST(GgufRope, RefusesAMagnitudeThatItsScalingHasNot) {
  EXPECT_THAT(
      error_of(
          [](GgufImage& image) { put(image, "scaling.attn_factor", 2.0f); }),
      HasSubstr("x.rope.scaling.attn_factor"));
  EXPECT_EQ(
      error_of(
          [](GgufImage& image) { put(image, "scaling.attn_factor", 1.0f); }),
      "no error");
}

} // namespace
} // namespace holdfast
