// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What an adapter's settings mean, and the names under which its matrices are
// found.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/engine/gguf_names.h"
#include "tests/models/adapter_folder.h"

namespace holdfast {
namespace {

using Json = nlohmann::json;
using test::AdapterFolder;
using testing::HasSubstr;

constexpr const char* kQuery = "model.layers.0.self_attn.q_proj";

TEST(AdapterConfigs, HaveRanksAndScalesByPattern) {
  Json json = AdapterFolder::peft_config(8, 2.0, {});
  json.erase("target_modules");
  const auto change = [&](const char* module) {
    return AdapterConfig::parse(json.dump(), "FILE").change_of(module);
  };
  EXPECT_EQ(change(kQuery).rank, 8);
  EXPECT_EQ(change(kQuery).scale, 2.0f);
  json["rank_pattern"] = {{"q_proj", 4}, {"layers.1.mlp.up_proj", 2}};
  json["alpha_pattern"] = {{"self_attn.q_proj", 12}};
  EXPECT_EQ(change(kQuery).rank, 4);
  EXPECT_EQ(change(kQuery).scale, 3.0f);
  EXPECT_EQ(change("model.layers.1.mlp.up_proj").rank, 2);
  EXPECT_EQ(change("model.layers.1.mlp.up_proj").scale, 8.0f);
  EXPECT_EQ(change("model.layers.0.mlp.up_proj").rank, 8);
  // Whole words: "aq_proj" is none that ends with "q_proj".
  EXPECT_EQ(change("model.layers.0.aq_proj").rank, 8);
  json["use_rslora"] = true;
  EXPECT_EQ(change(kQuery).scale, 6.0f); // 12 / sqrt(4)
  json["rank_pattern"]["self_attn.q_proj"] = 4;
  EXPECT_THAT(
      [&] { change(kQuery); },
      testing::ThrowsMessage<Error>(HasSubstr("rank_pattern: expected one")));
}

TEST(GgufNames, OfMatricesAreFoundBack) {
  EXPECT_EQ(
      published_tensor_name("blk.12.ffn_up.weight"),
      "layers.12.mlp.up_proj.weight");
  EXPECT_EQ(
      published_tensor_name("blk.0.attn_output.weight"),
      "layers.0.self_attn.o_proj.weight");
  EXPECT_EQ(published_tensor_name("output.weight"), "lm_head.weight");
  for (const char* as_it_is : {"blk.", "blk.1", "blk.1.weight", "lm_head"}) {
    EXPECT_EQ(published_tensor_name(as_it_is), as_it_is);
  }
}

} // namespace
} // namespace holdfast
