// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/models/folder_rig.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
namespace mx = mlx::core;

/// "model.layers.0.mlp.switch_mlp.up_proj.weight" [experts, n, k] becomes
/// "model.layers.0.mlp.experts.0.up_proj.weight" [n, k] and so on, as the
/// family is published.
void split_experts(const std::string& from, const std::string& to) {
  const std::string stacked = "switch_mlp.";
  std::unordered_map<std::string, mx::array> published;
  for (const auto& [name, array] :
       mx::load_safetensors(from + "/model.safetensors").first) {
    const size_t at = name.find(stacked);
    if (at == std::string::npos) {
      published.insert_or_assign(name, array);
      continue;
    }
    const auto experts = mx::split(array, array.shape(0), 0);
    for (size_t e = 0; e < experts.size(); ++e) {
      published.insert_or_assign(
          name.substr(0, at) + "experts." + std::to_string(e) + "." +
              name.substr(at + stacked.size()),
          mx::contiguous(mx::squeeze(experts[e], 0)));
    }
  }
  mx::save_safetensors(to + "/model.safetensors", published);
  fs::copy_file(from + "/config.json", to + "/config.json");
}

TEST(Qwen3Moe, ReadsExpertsOneATensorAsPublishedAndStackedAsConverted) {
  const std::string from = test::model_folder("qwen3_moe");
  const std::string to = testing::TempDir() + "holdfast-qwen3-moe";
  fs::remove_all(to);
  fs::create_directories(to);
  split_experts(from, to);
  const auto tokens = test::expected_of("qwen3_moe").tokens;
  const auto want = test::FolderRig("qwen3_moe").alone(tokens, 50);
  const Runtime runtime{std::make_shared<Executor>(2), best_kernel_path()};
  const auto model = make_model(FolderWeights(to, runtime.executor), runtime);
  fs::remove_all(to);
  const Codec* codec = find_codec("f32").value();
  State state(StateOptions{
      .layers = model->layers(),
      .precision = {.phases = always(codec, codec)},
      .runtime = runtime});
  const RowAppend append{state.add_row(), 50};
  Step step = state.begin({&append, 1});
  std::vector<int32_t> outputs(50);
  for (int32_t i = 0; i < 50; ++i) {
    outputs[static_cast<size_t>(i)] = i;
  }
  auto logits = *model->forward(step, std::span(tokens).first(50), outputs);
  mx::eval({logits});
  EXPECT_TRUE(test::same_bits(
      {want.begin(), want.begin() + 50 * model->config().vocab},
      {logits.data<float>(), logits.data<float>() + logits.size()}));
}

} // namespace
} // namespace holdfast
