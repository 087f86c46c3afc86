// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Every family as MLX quantises it, in all widths at once, against mlx-lm
// (tests/oracle/quantized_models.py), and every way to a position against every
// other.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "holdfast/engine/pack_plan.h"
#include "tests/kernel_paths.h"
#include "tests/models/folder_rig.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
namespace mx = mlx::core;

constexpr int kBits[] = {2, 3, 4, 5, 6, 8};
constexpr int kGroup = 32;

/// The family's folder, quantised; gone with the test.
class QuantizedFamilies : public testing::TestWithParam<const char*> {
 protected:
  QuantizedFamilies()
      : source_(test::model_folder(GetParam())),
        folder_(testing::TempDir() + "holdfast-quantized-" + GetParam()) {}
  ~QuantizedFamilies() override {
    fs::remove_all(folder_);
  }

  void quantize(mx::Dtype dtype) const {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    const auto files = SafetensorsFolder::open(source_).value();
    auto tensors = mx::load_safetensors(source_ + "/model.safetensors").first;
    std::ifstream config_file(source_ + "/config.json");
    auto config = nlohmann::json::parse(config_file);
    auto& modules = config["quantization"];
    modules = {{"group_size", kGroup}, {"bits", 4}};
    size_t count = 0;
    for (const auto& [name, tensor] : files.tensors()) {
      const mx::array dense = mx::astype(tensors.at(name), dtype);
      if (!is_packed(name, tensor.stored, kGroup)) {
        tensors.insert_or_assign(name, dense);
        continue;
      }
      const int bits = kBits[count++ % std::size(kBits)];
      const auto parts = mx::quantize(dense, kGroup, bits);
      tensors.insert_or_assign(name, parts[0]);
      tensors.insert_or_assign(module_part(name, "scales"), parts[1]);
      tensors.insert_or_assign(module_part(name, "biases"), parts[2]);
      modules[name.substr(0, name.rfind('.'))] = {
          {"group_size", kGroup}, {"bits", bits}};
    }
    ASSERT_GT(count, std::size(kBits));
    mx::save_safetensors(folder_ + "/model.safetensors", tensors);
    std::ofstream(folder_ + "/config.json") << config;
  }

  std::vector<int32_t> tokens() const {
    auto all = test::expected_of(GetParam()).tokens;
    all.resize(80);
    return all;
  }

  /// The largest error of the logits, in parts of the largest logit.
  float error(
      const char* key,
      const std::string& expected = "quantized",
      const std::string& adapter = {}) const {
    auto loaded =
        mx::load_safetensors(source_ + "/expected/" + expected + ".safetensors")
            .first;
    auto want = loaded.at(key);
    mx::eval({want});
    test::FolderRig rig(folder_, {.adapter = adapter});
    const auto got = rig.alone(tokens(), 47);
    EXPECT_EQ(got.size(), want.size());
    float largest = 0, worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      largest = std::max(largest, std::abs(want.data<float>()[i]));
      // Not a number is no small error.
      const float off = std::abs(want.data<float>()[i] - got[i]);
      worst = off <= worst ? worst : off;
    }
    return worst / largest;
  }

  const std::string source_;
  const std::string folder_;
};

TEST_P(QuantizedFamilies, AgreeWithMlxLmInF32) {
  quantize(mx::float32);
  EXPECT_LT(error("f32"), 1e-4f);
}

TEST_P(QuantizedFamilies, AgreeWithMlxLmWhereScalesAreBf16) {
  quantize(mx::bfloat16);
  // Some of these models turn small roundings into large ones: there mlx-lm in
  // bf16 is itself further from the oracle. No more than a third as far.
  auto own = mx::load_safetensors(source_ + "/expected/quantized.safetensors")
                 .first.at("own");
  EXPECT_LT(error("bf16"), std::max(2e-2f, own.item<float>() / 3));
}

TEST_P(QuantizedFamilies, AgreeWithMlxLmUnderAnAdapter) {
  quantize(mx::float32);
  EXPECT_LT(error("quantized", "adapter", source_ + "/adapter"), 1e-4f);
}

TEST_P(QuantizedFamilies, GiveTheSameBitsInAnyChunksThreadsAndPaths) {
  quantize(mx::bfloat16);
  const auto all = tokens();
  const auto want = test::FolderRig(folder_).alone(all, std::ssize(all));
  for (const int64_t chunk : {1, 7, 64}) {
    EXPECT_TRUE(test::same_bits(
        want, test::FolderRig(folder_, {.threads = 1}).alone(all, chunk)))
        << chunk;
  }
  for (const KernelPath path : test::paths_here()) {
    EXPECT_TRUE(test::same_bits(
        want, test::FolderRig(folder_, {.path = path}).alone(all, 30)))
        << name(path);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models,
    QuantizedFamilies,
    testing::ValuesIn(test::kFamilies),
    [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace holdfast
