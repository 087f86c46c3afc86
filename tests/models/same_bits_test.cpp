// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Alone = in chunks = beside neighbours = forked over a shared read =
// speculated = replayed, in bits of the logits: every family with every codec.

#include <set>

#include "holdfast/models/compiled.h"
#include "tests/models/branches.h"

namespace holdfast::test {
namespace {

constexpr Round kTogether[] = {
    {.parts = {{{1}, {1}, {1}}}},
    {.parts = {{{3}, {1}, {2}}}},
    {.parts = {{{1}, {3}, {1}}}}};
constexpr Round kDrafts[] = {
    {.parts = {{{2, 1}, {0, 4}, {1, 2}}}},
    {.parts = {{{1, 3}, {2, 2}, {4, 1}}}, .commits = false},
    {.parts = {{{1, 0}, {3, 2}, {0, 1}}}},
    {.parts = {{{0, 2}, {1, 1}, {2, 0}}}}};
constexpr Round kReplayed[] = {
    {.parts = {{{1}, {1}, {1}}}},
    {.parts = {{{2, 1}, {1, 1}, {0, 1}}}},
    {.parts = {{{0, 2}, {2, 0}, {1, 1}}}}};

void run_script(Branches& branches) {
  branches.run_cold();
  const RowId trunk = branches.run_chunks(0, 37, kTrunk);
  branches.run_to_end(branches.model(), branches.fork(trunk), 0);
  branches.run_beside_neighbours(1);
  const auto run = [&](const Model& model, std::span<const Round> rounds) {
    branches.run_branches(
        model,
        {branches.fork(trunk), branches.fork(trunk), branches.fork(trunk)},
        rounds);
    // Their trunk is longer than a split; a window is not.
    EXPECT_GE(branches.alike_steps(), 5);
    EXPECT_EQ(
        branches.shared_steps(),
        branches.sees_all() ? branches.alike_steps() : 0);
  };
  run(branches.model(), kTogether);
  run(branches.model(), kDrafts);
  const CompiledModel compiled(branches.model());
  run(compiled, kReplayed);
  EXPECT_LE(2 * compiled.traces(), branches.steps()); // the rest were replays
  const int64_t before = compiled.traces();
  branches.run_to_end(compiled, branches.fork(trunk), 2);
  EXPECT_LE(compiled.traces(), before + 1); // a lone row's
  branches.remove(trunk);
}

/// Runs a choice, or says that the codec fits no layer.
bool holds(const Choice& choice) {
  std::ostringstream text;
  text << choice;
  SCOPED_TRACE(text.str());
  Branches branches(choice);
  if (branches.placed()) {
    run_script(branches);
  }
  return branches.placed();
}

class SameBits : public testing::TestWithParam<std::string> {
 protected:
  /// Runs these, which hold every codec that a layer of the family takes.
  static void run(const std::vector<Choice>& choices) {
    std::set<std::string> held;
    for (const Choice& choice : choices) {
      if (holds(choice)) {
        held.insert(choice.codec->name());
      }
      if (HasFailure()) {
        return;
      }
    }
    // gemma3's heads fit every codec; the others' all but groups of 64 and 128.
    for (const Codec* codec : all_codecs()) {
      if (GetParam() == "gemma3" ||
          codec->supports(ChannelRole::kKeys, 32).ok()) {
        EXPECT_TRUE(held.contains(codec->name())) << codec->name();
      }
    }
  }
};

// Each codec in one form a family, and in the other in the next: half the cost.
TEST_P(SameBits, OfEveryWayToAPositionWithEveryCodec) {
  const auto families = all_families();
  const auto family =
      std::ranges::find(families, GetParam()) - families.begin();
  std::vector<Choice> choices;
  for (const Choice& choice : choices_of(GetParam())) {
    const auto codecs = all_codecs();
    const auto codec = std::ranges::find(codecs, choice.codec) - codecs.begin();
    const bool later =
        (codec + family) % 2 == 1 && choice.codec->name() != "bf16";
    if (choice.changes == later) {
      choices.push_back(choice);
    }
  }
  run(choices);
}

// Run by ./dev check: --gtest_also_run_disabled_tests.
TEST_P(SameBits, DISABLED_OfEveryWayWithEveryCodecInBothForms) {
  run(choices_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    Models,
    SameBits,
    testing::ValuesIn(all_families()),
    [](const auto& info) { return info.param; });

} // namespace
} // namespace holdfast::test
