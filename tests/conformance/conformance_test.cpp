// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Every registered codec, in every phase, under every window, with every script
// of row operations. A codec joins by being registered.

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <sstream>
#include <string>

#include "rig.h"
#include "tests/sanitized.h"

namespace holdfast::conformance {
namespace {

constexpr int kScripts = test::kSanitized ? 4 : 16; // a round of a codec

/// Plays scripts from a fixed seed; prints the smallest that fails.
void play_scripts(
    uint64_t seed,
    int scripts_in_all,
    const std::function<void()>& play) {
  rc::detail::TestParams params;
  params.seed = seed;
  params.maxSuccess = scripts_in_all;
  params.maxSize = 45; // operations of a script
  const auto result =
      rc::detail::checkTestable(play, rc::detail::TestMetadata{}, params);
  if (!result.is<rc::detail::SuccessResult>()) {
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    FAIL() << text.str();
  }
}

constexpr int kForkOperations = 16; // of a script over long rows

class Conformance : public ::testing::TestWithParam<const Codec*> {
 protected:
  /// Else its layers have the reference read, save a latent.
  static bool is_known_to_kernels() {
    return GetParam()->form().kind != CodecKind::kOther;
  }
};

TEST_P(Conformance, HoldsInRandomScriptsOfRowOperations) {
  int64_t played = 0;
  int64_t replayed = 0;
  for (int64_t round = 0; round < kRounds; ++round) {
    Rig rig(*GetParam(), round);
    play_scripts(100 + static_cast<uint64_t>(round), kScripts, [&] {
      rig.play(*scripts());
    });
    if (HasFatalFailure()) {
      return;
    }
    played += rig.played();
    replayed += rig.replayed();
  }
  EXPECT_GT(played, kScripts * 100); // else little was shown
  if (is_known_to_kernels()) {
    EXPECT_GT(replayed, kScripts);
  }
}

// What forks share they read together; the row alone shares nothing. Rows are
// long, so one script of one round of a codec: it has each phase and window.
TEST_P(Conformance, GivesForksThatReadTogetherTheBitsOfTheRowAlone) {
  const std::string name = GetParam()->name();
  const auto seed = static_cast<uint64_t>(
      std::accumulate(name.begin(), name.end(), int64_t{0}));
  Rig rig(*GetParam(), static_cast<int64_t>(seed) % kRounds);
  play_scripts(seed, 1, [&] {
    rig.play_forks(*rc::gen::resize(kForkOperations, scripts_of_forks()));
  });
  if (rig.latent_sees_all()) {
    EXPECT_GT(rig.shared_latent(), 0); // else little was shown
  }
  if (is_known_to_kernels()) {
    EXPECT_GT(rig.shared(), 0);
  } else {
    EXPECT_EQ(rig.shared(), 0);
  }
}

// Run by ./dev check: --gtest_also_run_disabled_tests.
TEST_P(Conformance, DISABLED_HoldsInTenTimesAsManyScriptsAndOtherCells) {
  for (int64_t round = kRounds; round < 6 * kRounds; ++round) {
    Rig rig(*GetParam(), round);
    play_scripts(1000 + static_cast<uint64_t>(round), 2 * kScripts, [&] {
      rig.play(*scripts());
    });
    if (HasFatalFailure()) {
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    EachCodec,
    Conformance,
    ::testing::ValuesIn(all_codecs()),
    [](const auto& info) { return info.param->name(); });

} // namespace
} // namespace holdfast::conformance
