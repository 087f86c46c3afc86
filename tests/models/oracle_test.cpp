// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Every family against mlx-lm, and every way to a position against every other.

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tests/kernel_paths.h"
#include "tests/models/folder_rig.h"

namespace holdfast {
namespace {

using test::expected_of;
using test::expected_of_bf16;
using test::FolderRig;
using test::same_bits;

class Families : public testing::TestWithParam<const char*> {};

TEST_P(Families, AgreeWithMlxLmInF32) {
  const auto expected = expected_of(GetParam());
  for (const bool reference : {false, true}) {
    FolderRig rig(GetParam(), {.reference = reference});
    const auto got = rig.alone(expected.tokens, 47);
    ASSERT_EQ(got.size(), expected.logits.size());
    float largest = 0;
    float worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(std::isfinite(got[i]));
      largest = std::max(largest, std::abs(expected.logits[i]));
      worst = std::max(worst, std::abs(expected.logits[i] - got[i]));
    }
    EXPECT_LT(worst, 1e-4f * largest)
        << (reference ? "reference read" : "chosen read");
  }
}

// The small qwen3.5 amplifies what is rounded: rounding its weights alone moves
// mlx-lm's own logits by 0.06 of the largest.
float bf16_bound(const std::string& family) {
  return family == "qwen35" ? 0.1f : 2e-2f;
}

TEST_P(Families, AgreeWithMlxLmWhereWeightsAreBf16) {
  const auto expected = expected_of_bf16(GetParam());
  FolderRig rig(GetParam(), {.rounded = true});
  const auto got = rig.alone(expected_of(GetParam()).tokens, 47);
  ASSERT_EQ(got.size(), expected.size());
  float largest = 0;
  float worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(std::isfinite(got[i]));
    largest = std::max(largest, std::abs(expected[i]));
    worst = std::max(worst, std::abs(expected[i] - got[i]));
  }
  EXPECT_LT(worst, bf16_bound(GetParam()) * largest);
}

TEST_P(Families, WriteTheTextThatMlxLmWrites) {
  const auto expected = expected_of(GetParam());
  FolderRig rig(GetParam());
  const RowId row = rig.state.add_row();
  auto logits = rig.append(
      row,
      {expected.tokens.begin(), expected.tokens.begin() + test::kGreedyPrompt},
      0,
      test::kGreedyPrompt);
  std::vector<int32_t> text;
  for (size_t i = 0; i < expected.greedy.size(); ++i) {
    const auto last = logits.end() - rig.vocab();
    const auto best =
        static_cast<int32_t>(std::max_element(last, logits.end()) - last);
    text.push_back(best);
    logits = rig.step({{row, 1}}, {best});
  }
  EXPECT_EQ(text, expected.greedy);
}

TEST_P(Families, GiveTheSameBitsInAnyChunks) {
  const auto tokens = expected_of(GetParam()).tokens;
  for (const char* codec : {"f32", "bf16"}) {
    FolderRig rig(GetParam(), {.codec = codec});
    const auto whole = rig.alone(tokens, std::ssize(tokens));
    for (const int64_t chunk : {1, 7, 64}) {
      EXPECT_TRUE(same_bits(whole, rig.alone(tokens, chunk)))
          << codec << ", chunk " << chunk;
    }
  }
}

TEST_P(Families, GiveTheSameBitsOnAnyThreadsAndPaths) {
  const auto tokens = expected_of(GetParam()).tokens;
  const auto want = FolderRig(GetParam()).alone(tokens, 150);
  EXPECT_TRUE(
      same_bits(want, FolderRig(GetParam(), {.threads = 1}).alone(tokens, 30)));
  EXPECT_TRUE(
      same_bits(want, FolderRig(GetParam(), {.threads = 3}).alone(tokens, 70)));
  for (const KernelPath path : test::paths_here()) {
    EXPECT_TRUE(same_bits(
        want, FolderRig(GetParam(), {.path = path}).alone(tokens, 150)))
        << name(path);
  }
}

TEST_P(Families, GiveTheSameBitsInABatchForkedAndSpeculated) {
  FolderRig rig(GetParam());
  const auto tokens = expected_of(GetParam()).tokens;
  const auto want = rig.alone(tokens, 150);
  const auto vocab = static_cast<size_t>(rig.vocab());
  std::mt19937_64 random(1);
  RowId row = rig.state.add_row();
  const RowId neighbour = rig.state.add_row();
  while (rig.state.length(row) < Position(150)) {
    const int64_t start = rig.state.length(row).get();
    const int64_t right = std::min<int64_t>(1 + random() % 9, 150 - start);
    const auto wrong = static_cast<int64_t>(random() % 6);
    std::vector<int32_t> batch{3, 1, 4};
    for (int64_t i = 0; i < right + wrong; ++i) {
      batch.push_back(i < right ? tokens[start + i] : 5);
    }
    const bool keeps = random() % 4 != 0;
    const auto got = rig.step(
        {{neighbour, 3}, {row, right + wrong}}, batch, {2, keeps ? right : 0});
    ASSERT_EQ(
        std::memcmp(
            got.data() + 3 * vocab,
            want.data() + start * vocab,
            right * vocab * sizeof(float)),
        0)
        << "from " << start;
    if (random() % 3 == 0) {
      const RowId fork = rig.state.fork_row(row);
      rig.step({{row, 2}}, {9, 9});
      rig.state.remove_row(row);
      row = fork;
    }
  }
}

TEST_P(Families, GiveTheSameBitsBehindChunksWithoutOutputs) {
  FolderRig rig(GetParam());
  const auto tokens = expected_of(GetParam()).tokens;
  const auto want = rig.alone(tokens, 150);
  const RowId row = rig.state.add_row();
  for (const int64_t count : {90, 30}) { // a long and a short one
    const RowAppend append{row, count};
    Step step = rig.state.begin({&append, 1});
    const auto from = static_cast<size_t>(rig.state.length(row).get());
    EXPECT_FALSE(
        rig.model->forward(step, std::span(tokens).subspan(from, count), {}));
    step.commit_all();
  }
  EXPECT_TRUE(same_bits(
      {want.begin() + 120 * rig.vocab(), want.end()},
      rig.append(row, tokens, 120, 30)));
}

TEST_P(Families, GoOnFromASnapshotAndATrim) {
  FolderRig rig(GetParam());
  const auto tokens = expected_of(GetParam()).tokens;
  const auto want = rig.alone(tokens, 150);
  for (const int64_t at : {1, 64, 65, 100, 128}) {
    const std::vector<int32_t> prefix(tokens.begin(), tokens.begin() + at);
    RowId row = rig.state.add_row();
    rig.append(row, prefix, 0, 40);
    const Snapshot snapshot = rig.state.snapshot(row, prefix);
    rig.append(row, std::vector<int32_t>(20, 7), 0, 20);
    rig.state.remove_row(row);
    row = rig.state.adopt(snapshot);
    auto got = rig.append(row, tokens, at, 33);
    EXPECT_TRUE(same_bits({want.begin() + at * rig.vocab(), want.end()}, got))
        << "snapshot at " << at;
    const int64_t floor =
        std::max<int64_t>(rig.state.reusable_floor(row).get(), 1);
    rig.state.trim(row, Position(floor));
    got = rig.append(row, tokens, floor, 150);
    EXPECT_TRUE(
        same_bits({want.begin() + floor * rig.vocab(), want.end()}, got))
        << "trim to " << floor;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models,
    Families,
    testing::ValuesIn(test::kFamilies),
    [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace holdfast
