// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Every family under an adapter, against mlx-lm (tests/oracle/adapters.py), and
// every way to a position against every other.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "holdfast/engine/gguf_weights.h"
#include "tests/kernel_paths.h"
#include "tests/models/adapter_folder.h"
#include "tests/models/gguf_folder.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;
using test::adapter_folder;
using test::AdapterFolder;
using test::FolderRig;
using test::same_bits;

/// A key of what mlx-lm said of the family under its adapter.
template <class T = float>
std::vector<T> expected(const std::string& family, const char* key) {
  auto array = mx::load_safetensors(
                   test::model_folder(family) + "/expected/adapter.safetensors")
                   .first.at(key);
  mx::eval({array});
  return {array.data<T>(), array.data<T>() + array.size()};
}

/// The largest error, in parts of the largest logit.
float error_of(const std::vector<float>& got, const std::vector<float>& want) {
  EXPECT_EQ(got.size(), want.size());
  float largest = 0, worst = 0;
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    largest = std::max(largest, std::abs(want[i]));
    // Not a number is no small error.
    const float off = std::abs(want[i] - got[i]);
    worst = off <= worst ? worst : off;
  }
  return worst / largest;
}

class Adapters : public testing::TestWithParam<const char*> {
 protected:
  static std::vector<int32_t> tokens() {
    auto all = test::expected_of(GetParam()).tokens;
    all.resize(80);
    return all;
  }
  static test::RigChoice adapted() {
    return {.adapter = adapter_folder(GetParam())};
  }
};

TEST_P(Adapters, AgreeWithMlxLmInF32) {
  const auto want = expected(GetParam(), "logits");
  for (const bool reference : {false, true}) {
    test::RigChoice choice = adapted();
    choice.reference = reference;
    EXPECT_LT(
        error_of(FolderRig(GetParam(), choice).alone(tokens(), 47), want),
        1e-4f)
        << (reference ? "reference read" : "chosen read");
  }
  // What is right without the adapter would be far off.
  EXPECT_GT(error_of(FolderRig(GetParam()).alone(tokens(), 47), want), 0.05f);
}

TEST_P(Adapters, AgreeWithMlxLmWhereAllWeightsAreBf16) {
  const AdapterFolder folder(std::string("bf16-") + GetParam());
  folder.write_mlx(GetParam(), mx::bfloat16);
  FolderRig rig(GetParam(), {.rounded = true, .adapter = folder.path()});
  // As without one: the small qwen3.5 amplifies what is rounded.
  const float bound = std::string(GetParam()) == "qwen35" ? 0.1f : 2e-2f;
  EXPECT_LT(
      error_of(rig.alone(tokens(), 47), expected(GetParam(), "bf16")), bound);
}

TEST_P(Adapters, WriteTheTextThatMlxLmWrites) {
  FolderRig rig(GetParam(), adapted());
  const RowId row = rig.state.add_row();
  const auto all = tokens();
  auto logits = rig.append(
      row,
      {all.begin(), all.begin() + test::kGreedyPrompt},
      0,
      test::kGreedyPrompt);
  std::vector<int32_t> text;
  const auto want = expected<int32_t>(GetParam(), "greedy");
  for (size_t i = 0; i < want.size(); ++i) {
    const auto last = logits.end() - rig.vocab();
    text.push_back(
        static_cast<int32_t>(std::max_element(last, logits.end()) - last));
    logits = rig.step({{row, 1}}, {text.back()});
  }
  EXPECT_EQ(text, want);
}

TEST_P(Adapters, HaveTheSameBitsInPeftsLayout) {
  for (const mx::Dtype dtype : {mx::float32, mx::float16, mx::bfloat16}) {
    const std::string name = GetParam();
    const AdapterFolder mlx_folder("mlx-" + name), peft("peft-" + name);
    mlx_folder.write_mlx(name, dtype);
    peft.write_peft(name, dtype);
    EXPECT_TRUE(same_bits(
        FolderRig(name, {.adapter = mlx_folder.path()}).alone(tokens(), 80),
        FolderRig(name, {.adapter = peft.path()}).alone(tokens(), 80)));
  }
}

TEST_P(Adapters, GiveTheSameBitsInAnyChunksThreadsAndPaths) {
  const auto all = tokens();
  for (const mx::Dtype dtype : {mx::float32, mx::bfloat16}) {
    const AdapterFolder folder(std::string("bits-") + GetParam());
    folder.write_mlx(GetParam(), dtype);
    test::RigChoice choice{.adapter = folder.path()};
    const auto want = FolderRig(GetParam(), choice).alone(all, 80);
    for (const int64_t chunk : {1, 7, 64}) {
      choice.threads = 1;
      EXPECT_TRUE(
          same_bits(want, FolderRig(GetParam(), choice).alone(all, chunk)))
          << chunk;
    }
    choice.threads = 3;
    for (const KernelPath path : test::paths_here()) {
      choice.path = path;
      EXPECT_TRUE(same_bits(want, FolderRig(GetParam(), choice).alone(all, 30)))
          << name(path);
    }
  }
}

TEST_P(Adapters, GiveARowTheSameBitsBesideOthers) {
  FolderRig rig(GetParam(), adapted());
  const auto all = tokens();
  const auto want = rig.alone(all, 80);
  const auto vocab = static_cast<size_t>(rig.vocab());
  const RowId before = rig.state.add_row();
  const RowId row = rig.state.add_row();
  const RowId behind = rig.state.add_row();
  for (size_t at = 0, count = 1; at < all.size(); at += count) {
    count = std::min<size_t>(at % 3 == 0 ? 1 : 11, all.size() - at);
    std::vector<int32_t> batch{3, 1, 4};
    batch.insert(
        batch.end(),
        all.begin() + static_cast<int64_t>(at),
        all.begin() + static_cast<int64_t>(at + count));
    batch.push_back(5);
    const auto got = rig.step(
        {{before, 3}, {row, static_cast<int64_t>(count)}, {behind, 1}}, batch);
    ASSERT_EQ(
        std::memcmp(
            got.data() + 3 * vocab,
            want.data() + at * vocab,
            count * vocab * sizeof(float)),
        0)
        << "from " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models,
    Adapters,
    testing::ValuesIn(test::kFamilies),
    [](const auto& info) { return std::string(info.param); });

/// The format keeps no windows for some: what their first positions see is the
/// same without.
void expect_gguf(const char* folder, const char* architecture, int64_t count) {
  const std::string bytes = test::GgufFolder(folder, architecture).bytes();
  const auto file =
      GgufFile::parse(std::as_bytes(std::span(bytes)), "small.gguf");
  const Runtime runtime{std::make_shared<Executor>(2), best_kernel_path()};
  const auto model = test::make_chosen_model(
      GgufWeights(file.value(), runtime.executor),
      {.adapter = adapter_folder(folder)},
      runtime);
  const Codec* codec = find_codec("f32").value();
  State state(StateOptions{
      .layers = model->layers(),
      .precision = {.phases = always(codec, codec)},
      .runtime = runtime});
  auto tokens = test::expected_of(folder).tokens;
  tokens.resize(static_cast<size_t>(count));
  std::vector<int32_t> outputs;
  for (int32_t i = 0; i < count; ++i) {
    outputs.push_back(i);
  }
  const RowAppend append{state.add_row(), count};
  Step step = state.begin({&append, 1});
  auto logits = *model->forward(step, tokens, outputs);
  mx::eval({logits});
  step.commit_all();
  auto want = expected(folder, "logits");
  want.resize(logits.size());
  const std::vector<float> got(
      logits.data<float>(), logits.data<float>() + logits.size());
  EXPECT_LT(error_of(got, want), 1e-4f) << folder;
}

// There a llama's rows of queries and keys lie in pairs.
TEST(AdaptersOverGguf, AgreeWithMlxLm) {
  expect_gguf("llama", "llama", 80);
  expect_gguf("llama_biased", "llama", 24);
  expect_gguf("qwen2", "qwen2", 24);
  expect_gguf("qwen3", "qwen3", 80);
  expect_gguf("gpt_oss", "gpt-oss", 80);
}

} // namespace
} // namespace holdfast
