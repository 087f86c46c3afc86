// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// gpt-oss with experts in MXFP4, as MLX converts it and as it is published.

#include "holdfast/engine/mxfp4.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/kernel_paths.h"
#include "tests/models/folder_rig.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
namespace mx = mlx::core;

const char* const kConverted = "gpt_oss/mxfp4";

mx::array expected(const char* key) {
  auto array =
      mx::load_safetensors(
          test::model_folder(kConverted) + "/expected/logits.safetensors")
          .first.at(key);
  mx::eval({array});
  return array;
}

std::vector<int32_t> tokens() {
  const auto array = expected("tokens");
  return {array.data<int32_t>(), array.data<int32_t>() + array.size()};
}

TEST(Mxfp4, KeepsEachValueOfTheFormat) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  std::vector<std::byte> codes(16);
  for (int i = 0; i < 16; ++i) {
    codes[i] = static_cast<std::byte>(i | (15 - i) << 4);
  }
  for (const int exponent : {100, 127, 130}) {
    const std::byte e{static_cast<uint8_t>(exponent)};
    uint8_t got[32];
    float scale = 0;
    read_mxfp4(
        codes.data(),
        &e,
        32,
        {.codes = got, .scales = &scale, .offsets = nullptr});
    for (int i = 0; i < 32; ++i) {
      const int code = i % 2 == 0 ? i / 2 : 15 - i / 2;
      const double right = std::ldexp(
          (code < 8 ? 1.0 : -1.0) * values[code % 8], exponent - 127);
      EXPECT_EQ(scale * (got[i] - 16), right) << i;
    }
  }
  const std::byte none{255};
  uint8_t got[32];
  float scale = 0;
  read_mxfp4(codes.data(), &none, 32, {got, &scale, nullptr});
  EXPECT_TRUE(std::isnan(scale));
}

TEST(Mxfp4, GivesTheLogitsThatMlxLmGivesOfItsWeights) {
  test::FolderRig rig(kConverted);
  const auto want = expected("logits");
  const auto got = rig.alone(tokens(), 47);
  ASSERT_EQ(got.size(), want.size());
  float largest = 0;
  float worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(std::isfinite(got[i]));
    largest = std::max(largest, std::abs(want.data<float>()[i]));
    worst = std::max(worst, std::abs(want.data<float>()[i] - got[i]));
  }
  EXPECT_LT(worst, 2e-2f * largest);
}

TEST(Mxfp4, GivesTheSameBitsInAnyChunksAndPaths) {
  const auto all = tokens();
  const auto want = test::FolderRig(kConverted).alone(all, 150);
  for (const KernelPath path : test::paths_here()) {
    EXPECT_TRUE(test::same_bits(
        want, test::FolderRig(kConverted, {.path = path}).alone(all, 7)))
        << name(path);
  }
}

/// Two stacks [count, n, ...] row by row in turn: [count, 2 n, ...].
mx::array in_turn(const mx::array& a, const mx::array& b) {
  mx::Shape shape = a.shape();
  shape[1] *= 2;
  const auto pair = mx::stack({a, b}, 2);
  return mx::contiguous(mx::reshape(pair, shape));
}

/// The converted folder's tensors as they are published.
class PublishedFolder {
 public:
  PublishedFolder() : folder_(testing::TempDir() + "holdfast-gpt-oss") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    const std::string from = test::model_folder(kConverted);
    auto tensors = mx::load_safetensors(from + "/model.safetensors").first;
    for (int layer = 0; layer < 2; ++layer) {
      publish(
          tensors, "model.layers." + std::to_string(layer) + ".mlp.experts.");
    }
    mx::save_safetensors(folder_ + "/model.safetensors", tensors);
    std::ifstream file(from + "/config.json");
    auto config = nlohmann::json::parse(file);
    config.erase("quantization");
    config["quantization_config"] = {{"quant_method", "mxfp4"}};
    std::ofstream(folder_ + "/config.json") << config;
  }
  ~PublishedFolder() {
    fs::remove_all(folder_);
  }

  const std::string& path() const {
    return folder_;
  }

 private:
  using Tensors = std::unordered_map<std::string, mx::array>;

  static void publish(Tensors& tensors, const std::string& prefix) {
    const auto take = [&](const std::string& name) {
      mx::array array = tensors.at(prefix + name);
      tensors.erase(prefix + name);
      return array;
    };
    const auto put = [&](const std::string& name, const mx::array& array) {
      tensors.insert_or_assign(prefix + name, array);
    };
    const auto blocks = [](const mx::array& words) {
      const auto bytes = mx::view(words, mx::uint8);
      const auto& s = bytes.shape();
      return mx::reshape(bytes, {s[0], s[1], s[2] / 16, 16});
    };
    put("gate_up_proj_blocks",
        blocks(in_turn(take("gate_proj.weight"), take("up_proj.weight"))));
    put("gate_up_proj_scales",
        in_turn(take("gate_proj.scales"), take("up_proj.scales")));
    put("gate_up_proj_bias",
        in_turn(take("gate_proj.bias"), take("up_proj.bias")));
    put("down_proj_blocks", blocks(take("down_proj.weight")));
    put("down_proj_scales", take("down_proj.scales"));
    put("down_proj_bias", take("down_proj.bias"));
  }

  const std::string folder_;
};

TEST(Mxfp4, ReadsACheckpointAsPublishedWithTheBitsOfTheConvertedOne) {
  const PublishedFolder folder;
  const auto all = tokens();
  EXPECT_TRUE(test::same_bits(
      test::FolderRig(kConverted).alone(all, 150),
      test::FolderRig(folder.path()).alone(all, 150)));
}

} // namespace
} // namespace holdfast
