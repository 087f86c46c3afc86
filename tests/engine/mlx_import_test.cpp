// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Caches that mlx-lm made (tests/oracle/prompt_caches.py) go on near to where
// mlx-lm itself does.

#include "holdfast/engine/mlx_import.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/state/foreign_bits.h"
#include "tests/models/folder_rig.h"

namespace holdfast {
namespace {

using test::expected_of;
using test::FolderRig;
using testing::HasSubstr;

struct Import {
  std::unique_ptr<SafetensorsFile> file;
  MlxCache cache;
};

Import open_cache(const std::string& family, const std::string& name) {
  Import result;
  const auto files = posix_file_system();
  result.file = SafetensorsFile::open(
                    *files, test::model_folder(family) + "/cache/" + name)
                    .value();
  result.cache = read_mlx_cache(*result.file).value();
  return result;
}

struct Case {
  const char* family;
  const char* name;
  int64_t length;
  int64_t least;
  float tolerance; // of the largest logit
};

class MlxImport : public testing::TestWithParam<Case> {};

void expect_near(
    const FolderRig& rig,
    const test::Expected& expected,
    const std::vector<float>& got,
    float tolerance) {
  const size_t skipped = expected.logits.size() - got.size();
  float largest = 0;
  float worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(std::isfinite(got[i]));
    largest = std::max(largest, std::abs(expected.logits[skipped + i]));
    worst = std::max(worst, std::abs(expected.logits[skipped + i] - got[i]));
  }
  EXPECT_EQ(got.size() % static_cast<size_t>(rig.vocab()), 0u);
  EXPECT_LT(worst, tolerance * largest);
}

TEST_P(MlxImport, GoesOnNearToMlxLm) {
  const Case& of = GetParam();
  const auto expected = expected_of(of.family);
  const Import import = open_cache(of.family, of.name);
  EXPECT_EQ(import.cache.metadata.at("model"), of.family);
  FolderRig rig(of.family);
  const MlxPlan plan =
      plan_mlx_import(import.cache, rig.state.options().layers).value();
  EXPECT_EQ(plan.length, Position(of.length));
  EXPECT_EQ(plan.least, Position(of.least));
  const std::vector<int32_t> begin(
      expected.tokens.begin(), expected.tokens.begin() + of.length);
  const Snapshot snapshot =
      mlx_snapshot(rig.state, {*import.file, import.cache, plan}, begin);
  const RowId row = rig.state.adopt(snapshot);
  EXPECT_GE(rig.state.reusable_floor(row), plan.least);
  expect_near(
      rig,
      expected,
      rig.append(row, expected.tokens, of.length, 13),
      of.tolerance);
}

// Over the cache and a folder: found at its length, and at no shorter one.
TEST_P(MlxImport, IsFoundAgainAtItsLengthUnderItsOwnSignature) {
  const Case& of = GetParam();
  const auto expected = expected_of(of.family);
  const Import import = open_cache(of.family, of.name);
  FolderRig ours(of.family); // computes its own bits
  const MlxPlan plan =
      plan_mlx_import(import.cache, ours.state.options().layers).value();
  const ForeignBits bits{std::string(64, 'c'), plan.least};
  const test::RigChoice apart{
      .identity = {{std::string(kForeignField), bits.text()}}};
  const std::vector<int32_t> begin(
      expected.tokens.begin(), expected.tokens.begin() + of.length);
  const auto files = MemoryFileSystem::make();
  const auto open = [&] {
    PrefixCacheOptions with;
    with.disk = DiskTier::open({.folder = "/state",
                                .files = files,
                                .clock = std::make_shared<ManualClock>()})
                    .value();
    return with;
  };
  std::vector<float> want;
  {
    FolderRig rig(of.family, apart);
    PrefixCache cache(rig.state, open());
    const RowId row = rig.state.adopt(
        mlx_snapshot(rig.state, {*import.file, import.cache, plan}, begin));
    cache.put(row, {begin});
    ASSERT_TRUE(cache.flush().durable);
    want = rig.append(row, expected.tokens, of.length, 150);
  }
  FolderRig later(of.family, apart);
  PrefixCache cache(later.state, open());
  const Begun begun = cache.begin({expected.tokens});
  EXPECT_EQ(begun.reused, Position(of.length)) << begun.why.line();
  EXPECT_TRUE(test::same_bits(
      want, later.append(begun.row, expected.tokens, of.length, 17)));
  if (of.least > 1) {
    const std::span shorter(begin.data(), static_cast<size_t>(of.least - 1));
    EXPECT_EQ(cache.why({shorter}).usable, Position(0));
  }
  PrefixCache none(ours.state, open());
  EXPECT_EQ(none.begin({expected.tokens}).reused, Position(0));
}

INSTANTIATE_TEST_SUITE_P(
    Files,
    MlxImport,
    testing::Values(
        Case{"qwen35", "state_64.safetensors", 64, 64, 1e-4f},
        Case{"qwen35", "before_128.safetensors", 128, 128, 1e-4f},
        // 100 - 24 = 76 is the first position left, and 64 begins its block.
        Case{"gemma4", "state_100.safetensors", 100, 99, 1e-4f},
        Case{"gemma4", "before_100.safetensors", 100, 0, 1e-4f},
        Case{"gemma4_wide", "state_20.safetensors", 20, 0, 1e-4f},
        Case{"gemma4_wide", "quantized_100.safetensors", 100, 99, 5e-2f},
        Case{"latent", "latents_70.safetensors", 70, 0, 1e-4f}),
    [](const auto& info) {
      std::string name = info.param.name;
      return info.param.family + ("_" + name.substr(0, name.find('.')));
    });

TEST(MlxImportRefusal, NamesTheLayerThatDoesNotFit) {
  const auto refusal = [](const std::string& family,
                          const std::string& of,
                          const std::string& name) {
    const Import import = open_cache(of, name);
    const FolderRig rig(family);
    const auto plan = plan_mlx_import(import.cache, rig.state.options().layers);
    EXPECT_EQ(plan.status().code(), ErrorCode::kUnsupported);
    return plan.status().text();
  };
  EXPECT_THAT(
      refusal("latent", "latent", "expanded_30.safetensors"),
      HasSubstr("layer 0: expected 1 heads of 32 / 16 (latents"));
  EXPECT_THAT(
      refusal("gemma4_wide", "qwen35", "state_64.safetensors"),
      HasSubstr("caches of 3 layers, got 4"));
  EXPECT_THAT(
      refusal("qwen35", "gemma4", "state_100.safetensors"),
      HasSubstr("layer 0: expected a recurrent state, got a Rotating"));
}

TEST(MlxImportRefusal, OfWhatIsNoWholeState) {
  Import import = open_cache("gemma4", "state_100.safetensors");
  const FolderRig rig("gemma4");
  std::vector<LayerSpec> layers = rig.state.options().layers;
  for (LayerSpec& layer : layers) { // a model that sees more than was kept
    auto& visible = std::get<AttentionSpec>(layer).visibility;
    visible.window = visible.window > 0 ? 26 : 0;
  }
  EXPECT_THAT(
      plan_mlx_import(import.cache, layers).status().text(),
      HasSubstr("expected the last 25 positions"));
  for (LayerSpec& layer : layers) {
    std::get<AttentionSpec>(layer).visibility.window = 0;
  }
  EXPECT_THAT(
      plan_mlx_import(import.cache, layers).status().text(),
      HasSubstr("expected all positions"));

  const Import hybrid = open_cache("qwen35", "state_64.safetensors");
  MlxCache within = hybrid.cache;
  for (MlxLayerCache& layer : within.layers) {
    layer.offset = Position(63);
  }
  const FolderRig qwen("qwen35");
  EXPECT_THAT(
      plan_mlx_import(within, qwen.state.options().layers).status().text(),
      HasSubstr("a multiple of 64 positions"));
}

TEST(MlxImportRefusal, OfAnotherNumberOfTokens) {
  const Import import = open_cache("latent", "latents_70.safetensors");
  FolderRig rig("latent");
  const MlxPlan plan =
      plan_mlx_import(import.cache, rig.state.options().layers).value();
  const std::vector<int32_t> tokens(69, 1);
  EXPECT_THROW(
      mlx_snapshot(rig.state, {*import.file, import.cache, plan}, tokens),
      Error);
}

} // namespace
} // namespace holdfast
