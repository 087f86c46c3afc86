// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Row operations by the hundred thousand: what is held stays what it is.

#include <array>

#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;
using Ids = std::vector<RowId>;

/// Two rows of a changing precision, a dense one and an encoded one, and every
/// verb over them, each turn ending where it began.
class Turns {
 public:
  Turns() : state_(options_here()), beside_(state_.sibling()) {
    dense_ = state_.add_row();
    encoded_ = state_.add_row();
    append_to(state_, dense_, {&sequence_, 0, 70});
    append_to(state_, encoded_, {&sequence_, 0, 100});
    append_to(state_, encoded_, {&sequence_, 100, 41});
    start_ = state_.bytes();
  }
  Bytes bytes() const {
    return state_.bytes();
  }
  Bytes start() const {
    return start_;
  }

  /// Returns the number of operations.
  int64_t turn(int64_t index) {
    const Ids both{dense_, encoded_};
    const RowId row = both[static_cast<size_t>(index % 2)];
    const int64_t length = state_.length(row).get();
    const RowId fork = state_.fork_row(row); // 1
    state_.trim(fork, Position(length - index % 3)); // 2
    state_.reorder(Ids{fork, encoded_, dense_}); // 3
    State apart = state_.extract(Ids{fork, row}); // 4
    const RowId first = apart.rows()[0];
    const Ids taken = beside_.take(apart, Ids{first}); // 5
    const Ids merged = state_.merge(beside_, taken); // 6
    const Snapshot kept =
        state_.snapshot(merged[0], tokens(state_.length(merged[0]).get())); // 7
    const RowId adopted = beside_.adopt(kept); // 8
    beside_.remove_row(taken[0]); // 9
    beside_.filter({}); // 10
    EXPECT_FALSE(beside_.remove_row(adopted)); // 11
    state_.filter(both); // 12
    if (index % 100 == 0) {
      draft(row, length); // 13, 14
      return 14;
    }
    return 12;
  }
  void drop_all() {
    state_.filter({});
  }

 private:
  static StateOptions options_here() {
    StateOptions result = options();
    result.precision.phases.push_back(
        {.keys = find_codec("q4").value(),
         .values = find_codec("t3").value(),
         .start = Position(100)});
    return result;
  }
  std::span<const int32_t> tokens(int64_t count) const {
    return {tokens_.data(), static_cast<size_t>(count)};
  }
  /// Of which nothing is kept, on a fork.
  void draft(RowId row, int64_t length) {
    const RowId fork = state_.fork_row(row);
    const RowAppend append{fork, 5};
    {
      Step step = state_.begin({&append, 1});
      run_layers(step, {{&sequence_, length, 5}});
      const int64_t none = 0;
      step.commit({&none, 1});
    }
    state_.remove_row(fork);
  }

  const Sequence sequence_{160, 301};
  const std::array<int32_t, 160> tokens_{};
  State state_;
  State beside_;
  RowId dense_;
  RowId encoded_;
  Bytes start_;
};

void hold_constant(int64_t operations) {
  Turns turns;
  int64_t done = 0;
  for (int64_t index = 0; done < operations; ++index) {
    done += turns.turn(index);
    ASSERT_EQ(turns.bytes(), turns.start()) << "turn " << index;
  }
  turns.drop_all();
  EXPECT_EQ(turns.bytes(), Bytes(0));
}

TEST(RowOperations, HoldTheirBytesConstantOverAHundredThousand) {
  hold_constant(100000);
}

// Run by ./dev check: --gtest_also_run_disabled_tests.
TEST(RowOperations, DISABLED_HoldTheirBytesConstantOverAMillion) {
  hold_constant(1000000);
}

} // namespace
} // namespace holdfast
