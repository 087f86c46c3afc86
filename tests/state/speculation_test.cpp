// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Drafts of which each row accepts another part: every output that counts has
// the bits of a row that only ever saw what was accepted.

#include <random>

#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;

struct Case {
  const char* name;
  const char* keys;
  const char* values;
  int64_t start; // 0: from the first token
  int64_t window;
  int64_t sinks;
};

StateOptions options_of(const Case& of) {
  StateOptions result = options();
  const Codec* keys = find_codec(of.keys).value();
  const Codec* values = find_codec(of.values).value();
  if (of.start == 0) {
    result.precision.phases = always(keys, values);
  } else {
    result.precision.phases.push_back(
        {.keys = keys, .values = values, .start = Position(of.start)});
  }
  for (size_t layer = 1; layer < 3; ++layer) {
    auto& spec = std::get<AttentionSpec>(result.layers[layer]);
    spec.visibility = {.window = of.window, .sinks = layer == 1 ? 0 : of.sinks};
  }
  return result;
}

// Every row of the batch drafts in every round; wrong tokens follow right ones.
class Rounds {
 public:
  Rounds(State& state, int64_t length, uint32_t seed)
      : state_(state), length_(length), random_(seed) {
    for (uint64_t i = 0; i < 3; ++i) {
      sequences_.emplace_back(length, 80 + i);
      rows_.push_back(state.add_row());
      got_.emplace_back();
    }
  }

  bool done() const {
    for (const RowId row : rows_) {
      if (state_.length(row) < Position(length_)) {
        return false;
      }
    }
    return true;
  }

  void round(int64_t draft) {
    std::vector<RowAppend> appends;
    std::vector<Part> parts;
    std::vector<int64_t> accepted;
    std::vector<size_t> drafting;
    for (size_t r = 0; r < rows_.size(); ++r) {
      const int64_t at = state_.length(rows_[r]).get();
      const int64_t count =
          std::min({draft, length_ - at, state_.max_append(rows_[r])});
      if (count == 0) {
        continue;
      }
      const int64_t right = static_cast<int64_t>(random_()) % (count + 1);
      appends.push_back({rows_[r], count});
      accepted.push_back(right);
      drafting.push_back(r);
      if (right > 0) {
        parts.push_back({&sequences_[r], at, right});
      }
      if (right < count) {
        parts.push_back({&wrong_, at + right, count - right});
      }
    }
    Step step = state_.begin(appends);
    const auto out = run_layers(step, parts);
    step.commit(accepted);
    auto from = out.begin();
    for (size_t i = 0; i < drafting.size(); ++i) {
      auto& got = got_[drafting[i]];
      got.insert(got.end(), from, from + accepted[i] * kHeads * kDim);
      from += appends[i].count * kHeads * kDim;
    }
  }

  // The same rows, one token at a time and never a draft.
  void expect_plain(const char* name) const {
    for (size_t r = 0; r < rows_.size(); ++r) {
      const auto want = run_alone(state_, sequences_[r], chunks_of(length_, 1));
      EXPECT_TRUE(same_bits(got_[r], want)) << name << " row " << r;
    }
  }

 private:
  State& state_;
  int64_t length_;
  std::mt19937 random_;
  std::vector<Sequence> sequences_;
  Sequence wrong_{300, 99};
  std::vector<RowId> rows_;
  std::vector<std::vector<float>> got_; // [row]
};

TEST(Speculation, LeavesTheBitsOfWhatWasAccepted) {
  for (const Case& of :
       {Case{"blocks and windows", "bf16", "bf16", 0, 20, 0},
        Case{"a window of a block", "bf16", "bf16", 0, 64, 0},
        Case{"sinks", "bf16", "bf16", 0, 16, 5},
        Case{"sinks over a block", "f32", "f32", 0, 16, 65},
        Case{"affine", "q8", "q4", 0, 20, 4},
        Case{"turbo", "t4", "t3", 0, 20, 4},
        Case{"a threshold", "q4", "t4", 70, 20, 4},
        Case{"a threshold at a block", "t3", "q8", 64, 64, 0}}) {
    State state(options_of(of));
    Rounds rounds(state, 140, 5);
    while (!rounds.done()) {
      rounds.round(7);
    }
    rounds.expect_plain(of.name);
  }
}

// Around the length at which the window is first exactly full, and where a
// block is, whole drafts are rejected, accepted and cut.
TEST(Speculation, IsExactWhereTheWindowIsFirstFull) {
  const Sequence sequence(100, 90);
  const Sequence wrong(100, 91);
  State state(options_of({"", "bf16", "bf16", 0, 20, 4}));
  const auto want = run_alone(state, sequence, chunks_of(100, 1));
  for (const int64_t length : {17, 18, 19, 20, 21, 60, 63, 64, 65}) {
    for (int64_t right = 0; right <= 4; ++right) {
      const RowId row = state.add_row();
      append_to(state, row, {&sequence, 0, length});
      const RowAppend append{row, 4};
      Step step = state.begin({&append, 1});
      std::vector<Part> parts;
      if (right > 0) {
        parts.push_back({&sequence, length, right});
      }
      if (right < 4) {
        parts.push_back({&wrong, length + right, 4 - right});
      }
      run_layers(step, parts);
      step.commit({&right, 1});
      const int64_t at = length + right;
      const auto out = append_to(state, row, {&sequence, at, 100 - at});
      ASSERT_TRUE(
          std::equal(out.begin(), out.end(), want.end() - std::ssize(out)))
          << length << " " << right;
      state.remove_row(row);
    }
  }
}

// Storage-level: what was rejected is in no position that the row holds.
TEST(Speculation, LeavesNothingOfWhatWasRejected) {
  const Sequence sequence(120, 92);
  const Sequence wrong(120, 93);
  State state(options("f32"));
  const RowId row = state.add_row();
  append_to(state, row, {&sequence, 0, 60});
  const RowAppend append{row, 9};
  {
    Step step = state.begin({&append, 1});
    run_layers(step, {{&sequence, 60, 2}, {&wrong, 62, 7}});
    const int64_t right = 2;
    step.commit({&right, 1});
  }
  append_to(state, row, {&sequence, 62, 30});
  const auto got = state.fetch(row, LayerIndex(0));
  ASSERT_EQ(got.positions.size(), 92u);
  EXPECT_TRUE(std::equal(got.keys.begin(), got.keys.end(), sequence.k.begin()));
  EXPECT_TRUE(
      std::equal(got.values.begin(), got.values.end(), sequence.v.begin()));
}

// A tree of drafts: forked rows; accepting adopts one of them.
TEST(Speculation, OfATreeAdoptsOneForkAndForgetsTheOthers) {
  const Sequence sequence(100, 94);
  const Sequence wrong(100, 95);
  State state(options());
  const auto want = run_alone(state, sequence, chunks_of(100, 1));
  const RowId root = state.add_row();
  append_to(state, root, {&sequence, 0, 70});
  const RowId left = state.fork_row(root);
  const RowId right = state.fork_row(root);
  {
    const std::vector<RowAppend> both{{left, 3}, {right, 3}};
    Step step = state.begin(both);
    run_layers(step, {{&wrong, 70, 3}, {&sequence, 70, 3}});
    step.commit_all();
  }
  state.filter(std::vector<RowId>{right});
  const auto out = append_to(state, right, {&sequence, 73, 27});
  EXPECT_TRUE(std::equal(out.begin(), out.end(), want.end() - std::ssize(out)));
  EXPECT_EQ(state.bytes(), state.retained_bytes(right));
}

} // namespace
} // namespace holdfast
