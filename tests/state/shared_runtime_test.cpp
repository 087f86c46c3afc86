// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// States of one runtime share a team of threads, and have a stream each: what
// they have at work at the same time waits for its turn.

#include "tests/state/view_rig.h"

namespace holdfast {
namespace {

using namespace test;

StateOptions changing_at(int64_t start) {
  StateOptions result = options();
  result.precision.phases.push_back(
      {.keys = find_codec("q8").value(),
       .values = find_codec("t4").value(),
       .start = Position(start)});
  return result;
}

TEST(SharedRuntime, ARowIsConvertedBesideAnotherStatesStep) {
  const Sequence sequence(500, 41);
  const StateOptions with = changing_at(256);
  StateOptions plain = options();
  plain.runtime = with.runtime;
  State converting(with);
  State other(plain);
  const RowId due = converting.add_row();
  append_to(converting, due, {&sequence, 0, 256});
  const auto fork_and_append = [&] {
    const RowId row = converting.fork_row(due);
    auto out = append_to(converting, row, {&sequence, 256, 20});
    converting.remove_row(row); // and with it what it was converted to
    return out;
  };
  const auto want = fork_and_append();
  const auto want_other = run_alone(other, sequence, {400});
  other.filter({});
  for (int round = 0; round < 30; ++round) {
    const RowId row = other.add_row();
    const RowAppend append{row, 400};
    Step step = other.begin({&append, 1});
    auto out = attend_layers(step, {{&sequence, 0, 400}});
    mx::async_eval({out});
    ASSERT_TRUE(same_bits(fork_and_append(), want)) << round;
    step.commit_all();
    ASSERT_TRUE(same_bits(values_of(out), want_other)) << round;
    other.remove_row(row);
  }
}

// A drafter of its own layers and rows, which also attends over its target's
// state: both streams are in one graph.
TEST(SharedRuntime, ADrafterRunsBesideTheViewOfItsTarget) {
  const Sequence sequence(500, 42);
  const Sequence drafted(500, 43);
  const StateOptions with = view_options({"q8", "bf16"}, 2);
  StateOptions draft_options = options();
  draft_options.runtime = with.runtime;
  draft_options.identity = {{"drafter", "over its target"}};
  State target(with);
  State drafter(draft_options);
  const RowId row = feed_new(target, sequence, 400);
  const RowId draft = drafter.add_row();
  append_to(drafter, draft, {&drafted, 0, 300});
  const LayerView view = target.view({&row, 1}, kFullLayer);
  const std::vector<ViewQueries> queries{
      {.row = row, .count = 60, .start = target.length(row)}};
  const auto q = queries_of({&drafted, 300, 60});
  const auto both = [&](bool apart) {
    const RowAppend append{draft, 60};
    Step step = drafter.begin({&append, 1});
    auto own = attend_layers(step, {{&drafted, 300, 60}});
    auto seen = view.attend(q, queries);
    if (apart) {
      mx::eval({own});
      mx::eval({seen});
    }
    auto out = mx::add(own, seen, drafter.stream());
    mx::eval({out});
    const int64_t none = 0;
    step.commit({&none, 1}); // the next round drafts the same
    return values_of(out);
  };
  const auto want = both(true);
  for (int round = 0; round < 50; ++round) {
    ASSERT_TRUE(same_bits(both(false), want)) << round;
  }
  EXPECT_EQ(drafter.length(draft), Position(300));
}

} // namespace
} // namespace holdfast
