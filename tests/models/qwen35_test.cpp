// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include <gtest/gtest.h>

#include "tests/code_of.h"
#include "tests/models/folder_rig.h"

namespace holdfast {
namespace {

// The small model as its family is published: convolutions [channels, 1, taps],
// norms stored less one; or with one setting changed.
class Changed : public WeightSource {
 public:
  Changed(std::shared_ptr<Executor> executor, bool published)
      : inner_(test::model_folder("qwen35"), std::move(executor)),
        published_(published) {}
  Changed(
      std::shared_ptr<Executor> executor,
      std::map<std::string, Setting, std::less<>> settings)
      : inner_(test::model_folder("qwen35"), std::move(executor)),
        settings_(Settings("changed", std::move(settings))) {}

  const ModelConfig& config() const override {
    return inner_.config();
  }
  const Settings& settings() const override {
    return settings_ ? *settings_ : inner_.settings();
  }
  bool has(std::string_view name) const override {
    return inner_.has(name);
  }
  std::vector<int64_t> dims(std::string_view name) const override {
    auto dims = inner_.dims(name);
    if (published_ && dims.size() == 3) {
      std::swap(dims[1], dims[2]);
    }
    return dims;
  }
  cpu::Weight
  matrix(std::string_view name, int64_t n, int64_t k) const override {
    return inner_.matrix(name, n, k);
  }
  std::vector<float> vector(std::string_view name, int64_t n) const override {
    auto values = inner_.vector(name, n);
    if (published_ && name.ends_with("norm.weight") &&
        name.find("linear_attn") == std::string_view::npos) {
      for (float& value : values) {
        value -= 1.0f;
      }
    }
    return values;
  }

 private:
  FolderWeights inner_;
  std::optional<Settings> settings_;
  bool published_ = false;
};

TEST(Qwen35, ReadsCheckpointsAsPublishedAndAsConverted) {
  const Runtime runtime{std::make_shared<Executor>(2), best_kernel_path()};
  const auto expected = test::expected_of("qwen35");
  const Changed source(runtime.executor, true);
  const auto model = make_model(source, runtime);
  const Codec* codec = find_codec("f32").value();
  State state(
      {.layers = model->layers(),
       .precision = {.phases = always(codec, codec)},
       .runtime = runtime});
  const RowAppend append{state.add_row(), 60};
  Step step = state.begin({&append, 1});
  const std::vector<int32_t> outputs{59};
  auto logits =
      *model->forward(step, std::span(expected.tokens).first(60), outputs);
  mlx::core::eval({logits});
  float worst = 0;
  for (int64_t i = 0; i < model->config().vocab; ++i) {
    const float want = expected.logits[59 * model->config().vocab + i];
    worst = std::max(worst, std::abs(want - logits.data<float>()[i]));
  }
  EXPECT_LT(worst, 1e-3f); // a norm less one and plus one is not itself
}

TEST(Qwen35, KeepsAStateOfOneSizeForItsRecurrentLayers) {
  test::FolderRig rig("qwen35");
  const auto tokens = std::vector<int32_t>(600, 3);
  const RowId row = rig.state.add_row();
  rig.append(row, tokens, 0, 150);
  // 10 blocks of the layer of attention, 2 of the recurrent ones at most.
  const int64_t attention = 64 * 2 * 32 * 4;
  const int64_t head = 64 + 67 * 64 * 4 + 64 * 2 * 2 * 4 + 2 * 2 * 16 * 16 * 4;
  const int64_t recurrent = 3 * 2 * head;
  EXPECT_EQ(
      rig.state.retained_bytes(row),
      Bytes(10 * attention + (recurrent + 4095) / 4096 * 4096));
  EXPECT_EQ(rig.state.reusable_floor(row), Position(9 * 64 + 1));
  EXPECT_NE(
      rig.state.explain().find("layer 0: recurrent.1\n"), std::string::npos);
}

// A row goes far back, takes another way, goes back again, and then on as it
// first did: the bits of every logit are those of the first time.
TEST(Qwen35, GoesBackToAKeptBlockWithTheLogitsOfAColdRun) {
  test::FolderRig rig("qwen35", {.codec = "bf16", .keep_every = 2});
  std::vector<int32_t> tokens(600);
  std::vector<int32_t> others(600);
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<int32_t>((i * i + 3 * i) % 50);
    others[i] = static_cast<int32_t>((i * 7 + 1) % 50);
  }
  const std::vector<float> cold = rig.alone(tokens, 600);
  const RowId row = rig.state.add_row();
  rig.append(row, tokens, 0, 150);
  EXPECT_EQ(rig.state.reusable_length(row, Position(500)), Position(500));
  EXPECT_EQ(rig.state.reusable_length(row, Position(440)), Position(384));
  for (const int64_t to : {500, 384, 330, 128, 65}) {
    rig.state.trim(row, Position(to));
    rig.append(row, {others.begin(), others.begin() + to + 90}, to, 40);
    rig.state.trim(row, Position(to));
    const RowId fork = rig.state.fork_row(row);
    EXPECT_TRUE(test::same_bits(
        {cold.begin() + to * rig.vocab(), cold.end()},
        rig.append(fork, tokens, to, 200)))
        << to;
    rig.state.remove_row(fork);
  }
}

TEST(Qwen35, RefusesAModelThatItCannotRun) {
  const Runtime runtime{std::make_shared<Executor>(1), best_kernel_path()};
  const std::map<std::string, Setting, std::less<>> good{
      {"linear_num_key_heads", int64_t{2}},
      {"linear_num_value_heads", int64_t{4}},
      {"linear_key_head_dim", int64_t{16}},
      {"linear_value_head_dim", int64_t{16}},
      {"linear_conv_kernel_dim", int64_t{4}}};
  const auto code = [&](const char* name, const Setting& value) {
    auto settings = good;
    settings[name] = value;
    return code_of([&] {
      make_model(Changed(runtime.executor, std::move(settings)), runtime);
    });
  };
  EXPECT_EQ(code("tie_word_embeddings", false), ErrorCode::kOk);
  EXPECT_EQ(code("num_experts", int64_t{8}), ErrorCode::kUnsupported);
  EXPECT_EQ(code("num_experts", UnusableSetting()), ErrorCode::kCorrupt);
  EXPECT_EQ(code("num_experts", std::monostate()), ErrorCode::kOk);
  EXPECT_EQ(code("attention_bias", true), ErrorCode::kUnsupported);
  EXPECT_EQ(
      code("rope_parameters.rope_type", std::string("yarn")),
      ErrorCode::kUnsupported);
  EXPECT_EQ(code("linear_key_head_dim", int64_t{24}), ErrorCode::kUnsupported);
  EXPECT_EQ(code("linear_num_value_heads", int64_t{8}), ErrorCode::kCorrupt);
  EXPECT_EQ(code("full_attention_interval", int64_t{0}), ErrorCode::kCorrupt);
  EXPECT_EQ(
      code("linear_conv_kernel_dim", std::monostate()), ErrorCode::kCorrupt);
}

} // namespace
} // namespace holdfast
