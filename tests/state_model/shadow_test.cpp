// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "shadow.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>
#include <sstream>
#include <vector>

#include "slots.h"

namespace holdfast::shadow {
namespace {

rc::Gen<Operation> operations() {
  // Steps are the most frequent; a row needs many to leave a window.
  const auto verbs = rc::gen::weightedElement<Verb>(
      {{2, Verb::kAdd},
       {12, Verb::kStep},
       {2, Verb::kFork},
       {3, Verb::kTrim},
       {1, Verb::kRemove},
       {1, Verb::kReorder},
       {1, Verb::kMove},
       {1, Verb::kFilter},
       {1, Verb::kCopy},
       {1, Verb::kCapture}});
  const auto number = rc::gen::inRange<uint32_t>(0, 1u << 20);
  return rc::gen::build<Operation>(
      rc::gen::set(&Operation::verb, verbs),
      rc::gen::set(&Operation::a, number),
      rc::gen::set(&Operation::b, number),
      rc::gen::set(&Operation::c, number));
}

/// Runs many scripts from a fixed seed; prints the smallest that fails.
void check_scripts(const Options& options, uint64_t seed, int scripts) {
  rc::detail::TestParams params;
  params.seed = seed;
  params.maxSuccess = scripts;
  const auto result = rc::detail::checkTestable(
      [&] {
        const auto script =
            *rc::gen::container<std::vector<Operation>>(operations());
        Shadow shadow(options);
        for (const Operation& operation : script) {
          shadow.run(operation);
        }
        shadow.finish();
      },
      rc::detail::TestMetadata{},
      params);
  if (!result.is<rc::detail::SuccessResult>()) {
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    FAIL() << text.str();
  }
}

TEST(Rows, MatchTheModelInRandomScriptsOverAllRetentionsAtOnce) {
  check_scripts({}, 11, 300);
}

TEST(Rows, MatchTheModelInRandomScriptsOverEachRetentionAlone) {
  uint64_t seed = 100;
  for (const GroupRule& retention : all_retentions()) {
    check_scripts({.rules = {retention}}, ++seed, 100);
  }
}

TEST(Rows, MatchTheModelInRandomScriptsOverPhases) {
  check_scripts({.rules = all_phases()}, 13, 300);
  check_scripts({.rules = {{.starts = {Position(70)}}}}, 14, 200);
}

TEST(Rows, MatchTheModelInRandomScriptsOverBlocksKeptToGoBackTo) {
  check_scripts({.rules = all_keeping()}, 16, 300);
  check_scripts(
      {.rules = {{}, {.window = 2, .keep_every = 2}}, .verify_every = 3},
      17,
      300);
}

TEST(Rows, MatchTheModelInRandomScriptsOverPhasesUnderATightBudget) {
  check_scripts({.rules = all_phases(), .budget = Bytes(60 * 4096)}, 15, 300);
}

TEST(Rows, MatchTheModelInRandomScriptsUnderATightBudget) {
  check_scripts({.budget = Bytes(60 * 4096)}, 12, 300);
}

TEST(Rows, AreRefusedOftenUnderATightBudget) {
  // Otherwise the test above would show little.
  std::mt19937 random(5);
  Shadow shadow({.budget = Bytes(60 * 4096)});
  for (int i = 0; i < 500; ++i) {
    shadow.run(
        {i % 5 == 0 ? Verb::kAdd : Verb::kStep,
         static_cast<uint32_t>(random()),
         static_cast<uint32_t>(random()),
         0});
  }
  EXPECT_GT(shadow.refusals(), 50);
  shadow.finish();
}

void leak_nothing(std::vector<GroupRule> rules, int operations) {
  std::mt19937 random(6);
  Shadow shadow({.rules = std::move(rules), .verify_every = 1000});
  for (int i = 0; i < operations; ++i) {
    // One in four a step, so that rows stay short and come and go.
    const Verb verb = random() % 4 == 0
        ? Verb::kStep
        : static_cast<Verb>(random() % static_cast<uint32_t>(Verb::kCount));
    shadow.run(
        {verb,
         static_cast<uint32_t>(random()),
         static_cast<uint32_t>(random()),
         static_cast<uint32_t>(random())});
  }
  shadow.finish();
  // One drained slab a kind may stay: a huge page and a part of an image.
  EXPECT_LE(
      shadow.pool().mapped_bytes(),
      Bytes(((int64_t{2} << 20) + 3 * kImage) * shadow.pool().kinds()));
}

TEST(Rows, LeakNothingOverAHundredThousandOperations) {
  leak_nothing(all_retentions(), 50000);
  leak_nothing(all_phases(), 50000);
}

// Run by hand: --gtest_also_run_disabled_tests.
TEST(Rows, DISABLED_LeakNothingOverAMillionOperations) {
  leak_nothing(all_phases(), 1000000);
}

} // namespace
} // namespace holdfast::shadow
