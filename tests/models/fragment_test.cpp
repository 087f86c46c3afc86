// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model with rope makes other keys of the same tokens at other positions, so
// what is stored of a fragment belongs to its place.

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "mlx/mlx.h"

#include "holdfast/prefix/prefix_cache.h"
#include "tests/models/random_source.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;
using Tokens = std::vector<int32_t>;

Tokens operator+(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Tokens random_tokens(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Tokens tokens(static_cast<size_t>(count));
  for (auto& token : tokens) {
    token = static_cast<int32_t>(random() % 300);
  }
  return tokens;
}

struct Rig {
  Rig()
      : runtime{std::make_shared<Executor>(2), best_kernel_path()},
        source(
            test::small_gemma3(),
            {cpu::WeightFormat::Kind::kF32, 0, 0, false},
            *runtime.executor),
        model(make_model(source, runtime)),
        state(StateOptions{
            .layers = model->layers(),
            .precision =
                {.phases = always(
                     find_codec("f32").value(),
                     find_codec("f32").value())},
            .runtime = runtime}) {}

  void append(RowId row, const Tokens& tokens) {
    const RowAppend append{row, std::ssize(tokens)};
    Step step = state.begin({&append, 1});
    auto logits = *model->forward(step, tokens, Tokens{0});
    mx::eval({logits});
    step.commit_all();
  }

  Runtime runtime;
  test::RandomSource source;
  std::unique_ptr<Model> model;
  State state;
};

bool same_bits(const float* a, const float* b, int64_t count) {
  return std::memcmp(a, b, static_cast<size_t>(count) * sizeof(float)) == 0;
}

// Layer 0 sees tokens before any attention: values of a token are the same
// wherever it stands, keys are turned by its position.
TEST(Fault, B99EqualFragmentsAtOtherPositionsStoreOtherKeys) {
  Rig rig;
  const RowId row = rig.state.add_row();
  const Tokens fragment = random_tokens(50, 1);
  rig.append(row, fragment);
  const FetchedChannels first = rig.state.fetch(row, LayerIndex(0));
  rig.append(row, {fragment.begin(), fragment.begin() + 37});
  const FetchedChannels both = rig.state.fetch(row, LayerIndex(0));
  ASSERT_EQ(std::ssize(first.positions), 50);
  ASSERT_EQ(std::ssize(both.positions), 87); // the window has left no block
  const int64_t keys = both.heads * both.key_dim;
  const int64_t values = both.heads * both.value_dim;
  for (int64_t p = 0; p < 37; ++p) {
    const int64_t again = p + 50;
    EXPECT_TRUE(same_bits(
        &first.values[p * values], &both.values[again * values], values))
        << p;
    EXPECT_FALSE(
        same_bits(&first.keys[p * keys], &both.keys[again * keys], keys))
        << p;
  }
}

TEST(Fault, B99EqualFragmentsAtOtherPositionsShareNoBlock) {
  Rig rig;
  PrefixCache cache(rig.state, {});
  const Tokens fragment = random_tokens(kBlockTokens, 2);
  const Tokens other = random_tokens(kBlockTokens, 3);
  const RowId row = rig.state.add_row();
  rig.state.keep_sealed(row, true);
  rig.append(row, fragment + fragment);
  const auto sealed = rig.state.take_sealed(row);
  ASSERT_EQ(std::ssize(sealed), 2 * rig.state.groups().size());
  for (const SealedBlock& a : sealed) {
    for (const SealedBlock& b : sealed) {
      if (a.group == b.group && a.index < b.index) {
        EXPECT_NE(a.block.image(), b.block.image());
        EXPECT_NE(
            std::memcmp(
                a.block.image(),
                b.block.image(),
                static_cast<size_t>(a.block.bytes().get())),
            0);
      }
    }
  }
  rig.state.remove_row(row);

  const auto known = [&](const Tokens& text) {
    return cache.why({text + Tokens{1}}).usable;
  };
  const auto put = [&](const Tokens& text) {
    const RowId from = rig.state.add_row();
    rig.state.keep_sealed(from, true);
    rig.append(from, text);
    cache.put(from, {text});
    rig.state.remove_row(from);
  };
  put(other + fragment);
  EXPECT_EQ(known(fragment), Position(0));
  EXPECT_EQ(known(fragment + fragment), Position(0));
  EXPECT_EQ(known(other + fragment), Position(128));
  put(fragment);
  EXPECT_EQ(known(fragment + fragment), Position(64));
  EXPECT_EQ(known(other + other), Position(64));
}

} // namespace
} // namespace holdfast
