// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tests/code_of.h"
#include "tests/kernel_paths.h"
#include "tests/recurrent/recurrent_rig.h"

namespace holdfast {
namespace {

using test::random_inputs;
using test::RecurrentRig;
using test::RecurrentRow;
using test::RecurrentWeights;

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
      std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

const RecurrentSpec kSmall{2, 4, 32, 48, 4};
const RecurrentSpec kSpecs[] = {
    kSmall,
    {1, 1, 16, 16, 1}, // no history
    {2, 2, 128, 128, 4}, // two whole strips
    {1, 3, 48, 96, 3}};

TEST(Recurrent, AgreesWithPlainDoubles) {
  for (const RecurrentSpec& spec : kSpecs) {
    const RecurrentWeights weights(spec, 1);
    const auto inputs = random_inputs(spec, 150, 2);
    const auto want = test::recurrent_reference(weights, inputs);
    const auto got = RecurrentRig(weights).alone(inputs, 40);
    ASSERT_EQ(got.size(), want.size());
    double largest = 0;
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      largest = std::max(largest, std::abs(want[i]));
      worst = std::max(worst, std::abs(want[i] - got[i]));
    }
    EXPECT_LT(worst, 2e-5 * largest) << spec.key_dim;
  }
}

TEST(Recurrent, GivesTheSameBitsInAnyChunksOnAnyPathAndThreads) {
  for (const RecurrentSpec& spec : kSpecs) {
    const RecurrentWeights weights(spec, 3);
    const auto inputs = random_inputs(spec, 200, 4);
    const auto want = RecurrentRig(weights).alone(inputs, 200);
    for (const int64_t chunk : {1, 7, 17, 63, 64, 65, 128}) {
      EXPECT_TRUE(same_bits(want, RecurrentRig(weights).alone(inputs, chunk)))
          << "chunk " << chunk << ", keys of " << spec.key_dim;
    }
    for (const KernelPath path : test::paths_here()) {
      EXPECT_TRUE(
          same_bits(want, RecurrentRig(weights, path, 1).alone(inputs, 70)))
          << name(path);
    }
  }
}

// Drafts of 1 to 43 tokens, of which a part is kept, at times none.
TEST(Recurrent, KeepsExactlyWhatIsAccepted) {
  const RecurrentWeights weights(kSmall, 5);
  const int64_t width = kSmall.input_width();
  const auto inputs = random_inputs(kSmall, 400, 6);
  const auto wrong = random_inputs(kSmall, 64, 7);
  const auto want = RecurrentRig(weights).alone(inputs, 400);
  std::mt19937_64 random(8);
  for (int run = 0; run < 4; ++run) {
    RecurrentRig rig(weights);
    RecurrentRow row;
    int64_t compared = 0;
    while (row.committed < 400) {
      const int64_t start = row.committed;
      const int64_t right = std::min<int64_t>(1 + random() % 22, 400 - start);
      const int64_t drafted = right + static_cast<int64_t>(random() % 22);
      std::vector<float> tokens(
          inputs.begin() + start * width,
          inputs.begin() + (start + right) * width);
      tokens.insert(
          tokens.end(),
          wrong.begin(),
          wrong.begin() + (drafted - right) * width);
      const int64_t accepted = random() % 5 == 0 ? 0 : right;
      const auto out = rig.step({{&row, tokens.data(), drafted, accepted}});
      const int64_t floats = right * kSmall.output_width();
      ASSERT_EQ(
          std::memcmp(
              out.data(),
              want.data() + start * kSmall.output_width(),
              floats * sizeof(float)),
          0)
          << "from " << start << ", run " << run;
      compared += accepted;
    }
    EXPECT_EQ(compared, 400);
  }
}

TEST(Recurrent, GivesTheSameBitsBesideNeighbours) {
  const RecurrentWeights weights(kSmall, 9);
  const int64_t width = kSmall.input_width();
  const auto mine = random_inputs(kSmall, 140, 10);
  const auto other = random_inputs(kSmall, 300, 11);
  const auto want = RecurrentRig(weights).alone(mine, 140);
  RecurrentRig rig(weights, best_kernel_path(), 3);
  RecurrentRow row, neighbour;
  std::vector<float> got;
  for (int64_t done = 0; done < 140; done += 10) {
    const float* next = other.data() + neighbour.committed * width;
    const auto out = rig.step(
        {{&neighbour, next, 21, 20},
         {&row, mine.data() + done * width, 10, 10}});
    got.insert(got.end(), out.begin() + 21 * kSmall.output_width(), out.end());
  }
  EXPECT_TRUE(same_bits(want, got));
}

TEST(Recurrent, GoesOnFromACopyOfTheTailAlone) {
  const RecurrentWeights weights(kSmall, 12);
  const int64_t width = kSmall.input_width();
  const auto inputs = random_inputs(kSmall, 200, 13);
  const auto want = RecurrentRig(weights).alone(inputs, 200);
  for (const int64_t at : {1, 63, 64, 65, 127, 128, 150}) {
    RecurrentRig rig(weights);
    RecurrentRow row;
    rig.step({{&row, inputs.data(), at, at}});
    RecurrentRow fork = row;
    const auto other = random_inputs(kSmall, 30, 14);
    rig.step({{&row, other.data(), 30, 30}}); // writes to its own images
    const auto out =
        rig.step({{&fork, inputs.data() + at * width, 200 - at, 200 - at}});
    EXPECT_EQ(
        std::memcmp(
            out.data(),
            want.data() + at * kSmall.output_width(),
            out.size() * sizeof(float)),
        0)
        << "fork at " << at;
  }
}

TEST(Recurrent, IgnoresARunningStateThatIsAhead) {
  const RecurrentWeights weights(kSmall, 15);
  const int64_t width = kSmall.input_width();
  const auto inputs = random_inputs(kSmall, 130, 16);
  const auto want = RecurrentRig(weights).alone(inputs, 130);
  RecurrentRig rig(weights);
  RecurrentRow row;
  rig.step({{&row, inputs.data(), 100, 100}});
  // A trim to 90 leaves a running state of position 100.
  row.committed = 90;
  rig.step({{&row, inputs.data() + 90 * width, 1, 0}});
  const auto out = rig.step({{&row, inputs.data() + 90 * width, 40, 40}});
  EXPECT_EQ(
      std::memcmp(
          out.data(),
          want.data() + 90 * kSmall.output_width(),
          out.size() * sizeof(float)),
      0);
}

// Steps of more than 16 tokens that leave block 0 leave no running state there.
TEST(Recurrent, ForgetsARunningStateWhoseInputsALongStepRewrites) {
  const RecurrentWeights weights(kSmall, 20);
  const int64_t width = kSmall.input_width();
  const auto inputs = random_inputs(kSmall, 130, 21);
  const auto wrong = random_inputs(kSmall, 70, 22);
  const auto want = RecurrentRig(weights).alone(inputs, 130);
  const auto expect_rest = [&](RecurrentRig& rig, RecurrentRow& row) {
    const int64_t at = row.committed;
    const auto out =
        rig.step({{&row, inputs.data() + at * width, 130 - at, 130 - at}});
    EXPECT_EQ(
        std::memcmp(
            out.data(),
            want.data() + at * kSmall.output_width(),
            out.size() * sizeof(float)),
        0)
        << "from " << at;
  };
  for (const int64_t trimmed : {45, 60, 64}) {
    RecurrentRig rig(weights);
    RecurrentRow row;
    rig.step({{&row, inputs.data(), 20, 20}});
    rig.step({{&row, inputs.data() + 20 * width, 10, 10}});
    rig.step({{&row, wrong.data(), 10, 10}});
    rig.step({{&row, wrong.data(), 10, 10}}); // running state of 41
    row.committed = 30;
    rig.step({{&row, inputs.data() + 30 * width, 35, 35}});
    row.committed = trimmed;
    expect_rest(rig, row);
  }
  // A draft's running state counts tokens that were rejected.
  RecurrentRig rig(weights);
  RecurrentRow row;
  rig.step({{&row, inputs.data(), 40, 40}});
  std::vector<float> draft(
      inputs.begin() + 40 * width, inputs.begin() + 45 * width);
  draft.insert(draft.end(), wrong.begin(), wrong.begin() + 15 * width);
  rig.step({{&row, draft.data(), 20, 5}}); // running state of 60
  draft.assign(inputs.begin() + 45 * width, inputs.begin() + 61 * width);
  draft.insert(draft.end(), wrong.begin(), wrong.begin() + 5 * width);
  rig.step({{&row, draft.data(), 21, 16}});
  expect_rest(rig, row);
}

TEST(Recurrent, RefusesARowWithoutTheBlockBefore) {
  const RecurrentWeights weights(kSmall, 17);
  const auto inputs = random_inputs(kSmall, 70, 18);
  RecurrentRig rig(weights);
  RecurrentRow row;
  rig.step({{&row, inputs.data(), 64, 64}});
  row.images[0] = {};
  EXPECT_EQ(
      code_of([&] {
        rig.step({{&row, inputs.data(), 1, 1}});
      }),
      ErrorCode::kInternal);
}

TEST(Recurrent, SaysWhichSpecsItCannotDo) {
  EXPECT_TRUE(check_recurrent(kSmall).ok());
  EXPECT_EQ(
      check_recurrent({2, 3, 32, 32, 4}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      check_recurrent({2, 2, 32, 32, 0}).code(), ErrorCode::kInvalidArgument);
  const int64_t wraps = int64_t{1} << 58; // as many bytes of states wrap to 0
  EXPECT_EQ(
      check_recurrent({wraps, wraps, 32, 32, 4}).code(),
      ErrorCode::kInvalidArgument);
  EXPECT_TRUE(check_recurrent({1 << 16, 1 << 16, 32, 32, 4}).ok());
  EXPECT_EQ(check_recurrent({2, 2, 24, 32, 4}).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(
      check_recurrent({2, 2, 32, 528, 4}).code(), ErrorCode::kUnsupported);
  const RecurrentWeights weights(kSmall, 19);
  EXPECT_EQ(
      code_of([&] {
        cpu::GatedDelta::make(
            kSmall, weights.conv, weights.a_log, weights.a_log, weights.a_log);
      }),
      ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast
