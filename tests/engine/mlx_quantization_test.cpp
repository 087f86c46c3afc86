// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// MLX's quantised checkpoints, made by MLX itself.

#include "holdfast/engine/mlx_quantization.h"

#include <cmath>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "mlx/mlx.h"

#include "holdfast/engine/folder_config.h"
#include "holdfast/engine/folder_weights.h"
#include "tests/code_of.h"
#include "tests/folder_fixture.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;
using Tensors = std::unordered_map<std::string, mx::array>;

constexpr int kBits[] = {2, 3, 4, 5, 6, 8};
constexpr int kGroups[] = {32, 64, 128};
constexpr int kRows = 70, kWidth = 256;

std::string config_with(const std::string& quantization) {
  return R"({"model_type": "x", "hidden_size": 8, "num_hidden_layers": 1,
    "num_attention_heads": 1, "vocab_size": 10, "rms_norm_eps": 1e-6)" +
      (quantization.empty() ? "" : ", " + quantization) + "}";
}

std::string usual(int bits, int group) {
  return R"("quantization": {"bits": )" + std::to_string(bits) +
      R"(, "group_size": )" + std::to_string(group);
}

class MlxQuantizationTest : public test::FolderFixture {
 protected:
  void configure(const std::string& quantization) const {
    write("config.json", config_with(quantization));
  }
  /// The module's three tensors, of random values.
  void
  add(const std::string& module,
      const MlxQuantized& kind,
      mx::Dtype dtype = mx::bfloat16) {
    const mx::array values = mx::astype(
        mx::random::normal({kRows, kWidth}, mx::float32, 0.0f, 0.05f), dtype);
    const auto parts = mx::quantize(values, kind.group, kind.bits);
    tensors_.insert_or_assign(module + ".weight", parts[0]);
    tensors_.insert_or_assign(module + ".scales", parts[1]);
    tensors_.insert_or_assign(module + ".biases", parts[2]);
  }
  FolderWeights open() const {
    mx::save_safetensors(folder_ + "/model.safetensors", tensors_);
    return {folder_, std::make_shared<Executor>(2)};
  }
  /// What MLX makes of the module's codes, in f32.
  std::vector<float>
  values(const std::string& module, const MlxQuantized& kind) const {
    const auto part = [&](const char* name) {
      return mx::astype(tensors_.at(module + name), mx::float32);
    };
    const mx::array all = mx::dequantize(
        tensors_.at(module + ".weight"),
        part(".scales"),
        part(".biases"),
        kind.group,
        kind.bits);
    mx::eval({all});
    return {all.data<float>(), all.data<float>() + all.size()};
  }
  /// The line of the refusal of module "m".
  std::string refused(ErrorCode code = ErrorCode::kCorrupt) const {
    try {
      open().matrix("m.weight", kRows, kWidth);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "expected a refusal";
    return "";
  }

  Tensors tensors_;
};

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(MlxQuantizationTest, KeepsTheCodesScalesAndBiasesOfEveryWidthAndGroup) {
  for (const int bits : kBits) {
    for (const int group : kGroups) {
      for (const mx::Dtype dtype : {mx::bfloat16, mx::float16, mx::float32}) {
        const MlxQuantized kind{bits, group};
        configure(usual(bits, group) + "}");
        add("model.m", kind, dtype);
        const FolderWeights weights = open();
        EXPECT_EQ(
            weights.dims("m.weight"), (std::vector<int64_t>{kRows, kWidth}));
        const cpu::Weight weight = weights.matrix("m.weight", kRows, kWidth);
        EXPECT_EQ(
            weight.format().kind == cpu::WeightFormat::Kind::kCodes,
            dtype != mx::float32);
        const auto want = values("model.m", kind);
        const auto all = weights.vector("m.weight", kRows * kWidth);
        std::vector<float> row(kWidth);
        for (int r = 0; r < kRows; ++r) {
          weight.read_row(r, row.data());
          for (int i = 0; i < kWidth; ++i) {
            const auto at = static_cast<size_t>(r * kWidth + i);
            // Products of codes and f32 scales round; the others are exact.
            if (dtype == mx::float32) {
              ASSERT_NEAR(row[i], want[at], 1e-7f) << bits << " " << group;
            } else {
              ASSERT_EQ(row[i], want[at]) << bits << " " << group;
            }
            ASSERT_EQ(all[at], row[i]) << bits << " " << group;
          }
        }
      }
    }
  }
}

TEST_F(MlxQuantizationTest, KeepsTheWeightsOfModeMxfp4) {
  configure(usual(4, 32) + R"(, "mode": "mxfp4"})");
  const mx::array values =
      mx::random::normal({kRows, kWidth}, mx::bfloat16, 0.0f, 2.0f);
  const auto parts = mx::quantize(values, 32, 4, "mxfp4");
  tensors_.insert_or_assign("m.weight", parts[0]);
  tensors_.insert_or_assign("m.scales", parts[1]);
  mx::array want = mx::astype(
      mx::dequantize(parts[0], parts[1], std::nullopt, 32, 4, "mxfp4"),
      mx::float32);
  mx::eval({want});
  const FolderWeights weights = open();
  const cpu::Weight weight = weights.matrix("m.weight", kRows, kWidth);
  EXPECT_EQ(weight.format().bits, 5);
  const auto all = weights.vector("m.weight", kRows * kWidth);
  std::vector<float> row(kWidth);
  for (int r = 0; r < kRows; ++r) {
    weight.read_row(r, row.data());
    for (int i = 0; i < kWidth; ++i) {
      const auto at = static_cast<size_t>(r * kWidth + i);
      ASSERT_EQ(row[static_cast<size_t>(i)], want.data<float>()[at]);
      ASSERT_EQ(all[at], want.data<float>()[at]);
    }
  }
  tensors_.insert_or_assign("m.scales", mx::astype(parts[1], mx::bfloat16));
  EXPECT_TRUE(says(refused(ErrorCode::kUnsupported), "m.scales"));
}

TEST_F(MlxQuantizationTest, ReadsModulesOfOtherWidthsAndThoseLeftDense) {
  configure(
      usual(4, 64) +
      R"(, "model.wide": {"bits": 8, "group_size": 32},)"
      R"( "model.plain": false, "model.usual": true})");
  add("model.wide", {8, 32});
  add("model.usual", {4, 64});
  add("model.other", {4, 64});
  tensors_.insert_or_assign("model.plain.weight", mx::ones({4, 8}));
  const FolderWeights weights = open();
  EXPECT_EQ(weights.matrix("wide.weight", kRows, kWidth).format().bits, 8);
  EXPECT_EQ(weights.matrix("usual.weight", kRows, kWidth).format().group, 64);
  EXPECT_EQ(weights.matrix("other.weight", kRows, kWidth).format().bits, 4);
  EXPECT_EQ(
      weights.matrix("plain.weight", 4, 8).format().kind,
      cpu::WeightFormat::Kind::kF32);
}

TEST_F(MlxQuantizationTest, NamesThePartThatIsMissingOrDoesNotFit) {
  configure(usual(4, 64) + "}");
  add("m", {4, 64});
  const Tensors whole = tensors_;
  tensors_.erase("m.scales");
  EXPECT_TRUE(says(refused(), "m.scales"));
  tensors_ = whole;
  tensors_.erase("m.biases");
  EXPECT_TRUE(says(refused(), "m.biases"));
  tensors_ = whole;
  tensors_.insert_or_assign("m.biases", mx::ones({kRows, 1}, mx::bfloat16));
  EXPECT_TRUE(says(refused(), "m.biases"));
  tensors_ = whole;
  tensors_.insert_or_assign(
      "m.biases", mx::astype(whole.at("m.biases"), mx::float32));
  EXPECT_TRUE(says(refused(ErrorCode::kUnsupported), "m.biases"));
  tensors_ = whole;
  tensors_.insert_or_assign(
      "m.scales", mx::astype(whole.at("m.scales"), mx::int32));
  EXPECT_TRUE(says(refused(ErrorCode::kUnsupported), "m.scales"));
  tensors_ = whole;
  tensors_.insert_or_assign(
      "m.scales", whole.at("m.scales") * mx::array(INFINITY, mx::bfloat16));
  EXPECT_TRUE(says(refused(), "m.weight"));
  tensors_.clear();
  add("m", {8, 64});
  EXPECT_TRUE(says(refused(), "m."));
  configure("");
  EXPECT_TRUE(says(refused(ErrorCode::kUnsupported), "m.weight"));
}

TEST_F(MlxQuantizationTest, RefusesSettingsOfOtherQuantisations) {
  for (const auto& [text, name] :
       std::vector<std::pair<std::string, std::string>>{
           {usual(7, 64) + "}", "quantization.bits"},
           {usual(1, 64) + "}", "quantization.bits"},
           {usual(4, 16) + "}", "quantization.group_size"},
           {usual(4, 64) + R"(, "mode": "other"})", "quantization.mode"},
           {usual(8, 32) + R"(, "mode": "mxfp4"})", "quantization.bits"},
           {usual(4, 64) + R"(, "mode": "mxfp4"})", "quantization.group_size"},
           {R"("quantization": {"bits": 4})", "quantization.group_size"},
           {R"("quantization": 4)", "quantization.bits"},
           {usual(4, 64) + R"(, "m": {"bits": 4}})",
            "quantization.m.group_size"},
           {usual(4, 64) + R"(, "m": [1]})", "quantization.m"},
           {R"("quantization_config": {"quant_method": "gptq"})",
            "quantization_config"}}) {
    try {
      MlxQuantization{parse_folder_settings(config_with(text), "config.json")};
      ADD_FAILURE() << "expected a refusal of " << text;
    } catch (const Error& error) {
      EXPECT_TRUE(says(error.what(), "config.json: " + name + ": expected"))
          << error.what();
    }
  }
}

TEST(MlxCodes, ArePackedAsTheyAreUnpacked) {
  std::mt19937 random(1);
  for (const int bits : kBits) {
    std::vector<uint8_t> codes(160), back(160);
    for (auto& code : codes) {
      code = static_cast<uint8_t>(random() % (1u << bits));
    }
    std::vector<std::byte> words(static_cast<size_t>(160 * bits / 8));
    pack_mlx_codes(bits, codes.data(), 160, words.data());
    unpack_mlx_codes(bits, words.data(), 160, back.data());
    EXPECT_EQ(back, codes) << bits;
  }
}

} // namespace
} // namespace holdfast
