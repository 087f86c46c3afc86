// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/pack_model.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <unordered_map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "mlx/mlx.h"

#include "holdfast/engine/folder_weights.h"
#include "holdfast/engine/pack_plan.h"
#include "holdfast/env/faulty_file_system.h"
#include "holdfast/env/posix_file_system.h"
#include "tests/code_of.h"
#include "tests/folder_fixture.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
namespace mx = mlx::core;
using Tensors = std::unordered_map<std::string, mx::array>;

class PackModelTest : public test::FolderFixture {
 protected:
  PackModelTest() {
    fs::create_directories(model());
    write(
        "config.json",
        R"({"model_type": "x", "hidden_size": 8, "num_hidden_layers": 1,
            "num_attention_heads": 1, "vocab_size": 10, "rms_norm_eps": 1e-06,
            "rope_theta": 10000.0})");
    write("tokenizer.json", "{\"a\": 1}");
    write("notes.txt", "not the model's");
    for (const auto& [name, shape, dtype] :
         std::vector<std::tuple<std::string, mx::Shape, mx::Dtype>>{
             {"model.a.weight", {70, 128}, mx::bfloat16},
             {"model.b.weight", {3, 64}, mx::float16},
             {"model.c.weight", {9, 192}, mx::float32},
             {"model.odd.weight", {4, 48}, mx::bfloat16},
             {"model.norm.weight", {64}, mx::bfloat16},
             {"model.experts.0.up.weight", {4, 64}, mx::bfloat16},
             {"model.a.bias", {70}, mx::float32}}) {
      tensors_.insert_or_assign(
          name, mx::astype(mx::random::normal(shape), dtype));
    }
    save();
  }
  std::string model() const {
    return folder_ + "/model";
  }
  std::string out() const {
    return folder_ + "/out";
  }
  void write(const std::string& name, const std::string& text) const {
    FolderFixture::write("model/" + name, text);
  }
  void save() const {
    mx::save_safetensors(model() + "/model.safetensors", tensors_);
  }
  PackReport pack(const MlxQuantized& kind) const {
    return pack_model(
        *posix_file_system(), {.model = model(), .out = out(), .kind = kind});
  }
  /// What is beside the model: nothing of what was begun may stay.
  std::vector<std::string> leftovers() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path() != model()) {
        names.push_back(entry.path().filename());
      }
    }
    return names;
  }

  Tensors tensors_;
};

bool same(const mx::array& a, const mx::array& b) {
  mx::array x = mx::contiguous(a), y = mx::contiguous(b);
  mx::eval({x, y});
  return x.dtype() == y.dtype() && x.shape() == y.shape() &&
      std::memcmp(x.data<uint8_t>(), y.data<uint8_t>(), x.nbytes()) == 0;
}

TEST_F(PackModelTest, WritesWhatMlxQuantizesAndKeepsTheRest) {
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    for (const int group : {32, 64, 128}) {
      fs::remove_all(out());
      const PackReport report = pack({bits, group});
      const Tensors got =
          mx::load_safetensors(out() + "/model.safetensors").first;
      int64_t quantized = 0;
      for (const auto& [name, tensor] : tensors_) {
        const bool packed = name.ends_with("weight") && tensor.ndim() == 2 &&
            tensor.shape(1) % group == 0 && name.find("experts") == name.npos;
        if (!packed) {
          EXPECT_TRUE(same(got.at(name), tensor)) << name;
          continue;
        }
        ++quantized;
        const auto want = mx::quantize(tensor, group, bits);
        EXPECT_TRUE(same(got.at(name), want[0])) << name << " " << bits;
        EXPECT_TRUE(same(got.at(module_part(name, "scales")), want[1]));
        EXPECT_TRUE(same(got.at(module_part(name, "biases")), want[2]));
      }
      EXPECT_EQ(report.quantized, quantized);
      EXPECT_EQ(report.tensors, std::ssize(tensors_));
      EXPECT_EQ(std::ssize(got), report.tensors + 2 * quantized);
    }
  }
}

TEST_F(PackModelTest, WritesAFolderThatSaysHowItIsQuantised) {
  pack({4, 64});
  std::ifstream config(out() + "/config.json"),
      index(out() + "/model.safetensors.index.json");
  const auto json = nlohmann::json::parse(config);
  EXPECT_EQ(json["quantization"]["bits"], 4);
  EXPECT_EQ(json["quantization"]["group_size"], 64);
  EXPECT_EQ(json["quantization"], json["quantization_config"]);
  EXPECT_EQ(json["rms_norm_eps"], 1e-6);
  EXPECT_EQ(
      nlohmann::json::parse(index)["weight_map"]["model.a.scales"],
      "model.safetensors");
  EXPECT_TRUE(fs::exists(out() + "/tokenizer.json"));
  EXPECT_FALSE(fs::exists(out() + "/notes.txt"));
  const FolderWeights weights(out(), std::make_shared<Executor>(2));
  EXPECT_EQ(weights.matrix("a.weight", 70, 128).format().bits, 4);
  EXPECT_EQ(weights.vector("norm.weight", 64).size(), 64u);
  EXPECT_EQ(leftovers(), (std::vector<std::string>{"out"}));
}

TEST_F(PackModelTest, PlansFilesOfTheSizeAskedFor) {
  const auto folder = SafetensorsFolder::open(model()).value();
  const PackPlan plan = plan_pack(folder, {4, 64}, Bytes(6000));
  ASSERT_GT(plan.files.size(), 1u);
  size_t tensors = 0;
  for (const PackedFile& file : plan.files) {
    tensors += file.sources.size();
    EXPECT_TRUE(file.name.ends_with(
        "-of-0000" + std::to_string(plan.files.size()) + ".safetensors"))
        << file.name;
  }
  EXPECT_EQ(tensors, tensors_.size());
}

TEST_F(PackModelTest, RefusesWhatExistsIsQuantisedOrHasNothingToQuantise) {
  fs::create_directories(out());
  EXPECT_EQ(code_of([&] { pack({4, 64}); }), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(fs::is_empty(out()));
  fs::remove_all(out());
  std::ofstream(out()) << "a file";
  EXPECT_EQ(code_of([&] { pack({4, 64}); }), ErrorCode::kInvalidArgument);
  fs::remove(out());
  pack({4, 64});
  fs::rename(out(), folder_ + "/packed");
  EXPECT_EQ(
      code_of([&] {
        pack_model(
            *posix_file_system(),
            {.model = folder_ + "/packed", .out = out(), .kind = {4, 64}});
      }),
      ErrorCode::kInvalidArgument);
  tensors_.clear();
  tensors_.insert_or_assign("norm.weight", mx::ones({64}));
  save();
  EXPECT_EQ(code_of([&] { pack({4, 64}); }), ErrorCode::kInvalidArgument);
  // gpt-oss as published: its experts are codes already.
  tensors_.insert_or_assign("a.weight", mx::ones({2, 64}));
  save();
  write(
      "config.json",
      R"({"model_type": "gpt_oss",
          "quantization_config": {"quant_method": "mxfp4"}})");
  EXPECT_EQ(code_of([&] { pack({4, 64}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(leftovers(), (std::vector<std::string>{"packed"}));
}

TEST_F(PackModelTest, LeavesNothingWhereItFailsOrIsInterrupted) {
  tensors_.insert_or_assign(
      "model.z.weight", mx::full({2, 64}, INFINITY, mx::bfloat16));
  save();
  EXPECT_EQ(code_of([&] { pack({4, 64}); }), ErrorCode::kCorrupt);
  EXPECT_TRUE(leftovers().empty());
  tensors_.erase("model.z.weight");
  save();
  std::atomic<bool> interrupted = false;
  EXPECT_EQ(
      code_of([&] {
        pack_model(
            *posix_file_system(),
            {.model = model(),
             .out = out(),
             .kind = {4, 64},
             .progress = [&](Bytes, Bytes) { interrupted = true; },
             .interrupted = &interrupted});
      }),
      ErrorCode::kStale);
  EXPECT_TRUE(leftovers().empty());
}

TEST_F(PackModelTest, IsNotThereUnderItsNameWhereAnyCallFails) {
  int64_t k = 0;
  for (;; ++k) {
    FaultyFileSystem files(posix_file_system());
    files.fail({.after = k});
    try {
      pack_model(files, {.model = model(), .out = out(), .kind = {4, 64}});
    } catch (const Error&) {
      const bool named = fs::exists(out());
      // Only the last call, which makes the name durable, may fail with it.
      if (named) {
        EXPECT_NO_THROW(FolderWeights(out(), std::make_shared<Executor>(1)));
        fs::remove_all(out());
      }
      EXPECT_TRUE(leftovers().empty()) << k;
      continue;
    }
    break;
  }
  EXPECT_GT(k, 10);
  EXPECT_TRUE(fs::exists(out()));
}

} // namespace
} // namespace holdfast
