// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Families out of GGUF files, against mlx-lm.

#include <cmath>

#include <gtest/gtest.h>

#include "holdfast/engine/gguf_weights.h"
#include "tests/models/gguf_folder.h"

namespace holdfast {
namespace {

struct Case {
  const char* folder;
  const char* architecture;
  /// The format keeps no windows for these: what their first positions see is
  /// the same without.
  int64_t positions;
};

class GgufFamilies : public testing::TestWithParam<Case> {};

std::vector<float>
logits_of(const GgufFile& file, std::vector<int32_t> tokens) {
  const Runtime runtime{std::make_shared<Executor>(2), best_kernel_path()};
  const auto model = make_model(GgufWeights(file, runtime.executor), runtime);
  const Codec* codec = find_codec("f32").value();
  State state(StateOptions{
      .layers = model->layers(),
      .precision = {.phases = always(codec, codec)},
      .runtime = runtime});
  const RowAppend append{state.add_row(), std::ssize(tokens)};
  Step step = state.begin({&append, 1});
  std::vector<int32_t> outputs(tokens.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = static_cast<int32_t>(i);
  }
  auto logits = *model->forward(step, tokens, outputs);
  mlx::core::eval({logits});
  step.commit_all();
  return {logits.data<float>(), logits.data<float>() + logits.size()};
}

TEST_P(GgufFamilies, GiveTheLogitsOfThePublishedWeights) {
  const Case& c = GetParam();
  const std::string bytes = test::GgufFolder(c.folder, c.architecture).bytes();
  const auto file =
      GgufFile::parse(std::as_bytes(std::span(bytes)), "small.gguf");
  const auto expected = test::expected_of(c.folder);
  const auto got = logits_of(
      file.value(),
      {expected.tokens.begin(), expected.tokens.begin() + c.positions});
  ASSERT_FALSE(got.empty());
  float largest = 0;
  float worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    largest = std::max(largest, std::abs(expected.logits[i]));
    worst = std::max(worst, std::abs(expected.logits[i] - got[i]));
  }
  EXPECT_LT(worst, 1e-4f * largest);
}

INSTANTIATE_TEST_SUITE_P(
    Models,
    GgufFamilies,
    testing::Values(
        Case{"llama", "llama", 150},
        Case{"llama_biased", "llama", 24},
        Case{"mistral", "llama", 24},
        Case{"phi3", "phi3", 150},
        Case{"gemma2", "gemma2", 150},
        Case{"qwen2", "qwen2", 24},
        Case{"qwen3", "qwen3", 150},
        Case{"gpt_oss", "gpt-oss", 150}),
    [](const auto& info) { return std::string(info.param.folder); });

} // namespace
} // namespace holdfast
