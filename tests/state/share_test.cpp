// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Forked rows, whose shared blocks are read once for all of them, have the bits
// of rows that took the same tokens by themselves.

#include <map>

#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;

constexpr int64_t kTrunk = 590; // two splits and a part
constexpr int64_t kBranch = 300; // by which one fork grows before it is forked
constexpr int64_t kLength = 1000;

// A full layer, two sliding ones, and one that reads the first.
StateOptions deep(std::vector<LayerPhase> phases, int threads) {
  StateOptions result = options("bf16", threads);
  AttentionSpec spec = std::get<AttentionSpec>(result.layers[0]);
  result.layers.assign(4, spec);
  spec.visibility = {.window = 512, .sinks = 0};
  result.layers[1] = spec;
  spec.visibility = {.window = 600, .sinks = 5};
  result.layers[2] = spec;
  spec.visibility = {};
  spec.donor = LayerIndex(0);
  result.layers[3] = spec;
  result.precision.phases = std::move(phases);
  return result;
}

std::vector<LayerPhase> same(const char* codec) {
  return always(find_codec(codec).value(), find_codec(codec).value());
}
std::vector<LayerPhase>
then(int64_t start, const char* keys, const char* values) {
  auto phases = same("bf16");
  phases.push_back(
      {.keys = find_codec(keys).value(),
       .values = find_codec(values).value(),
       .start = Position(start)});
  return phases;
}

// The outputs of a step.
std::vector<float> run(Step& step, const std::vector<Part>& parts) {
  const auto k = gather(parts, &Sequence::k, kKvHeads);
  const auto v = gather(parts, &Sequence::v, kKvHeads);
  auto x = gather(parts, &Sequence::q, kHeads);
  for (int64_t layer = 0; layer < 3; ++layer) {
    x = step.attend(LayerIndex(layer), x, k, v);
  }
  x = step.attend_donor(LayerIndex(3), x);
  mx::eval({x});
  return values_of(x);
}

// A row of one state: what it takes, and the outputs by position.
struct Row {
  RowId id;
  const Sequence* takes;
  int64_t length = 0;
  std::map<int64_t, std::vector<float>> outputs = {};
};

// One step of so many tokens, or up to a threshold; commits all, or leaves
// nothing.
void step(
    State& state,
    std::vector<std::pair<Row*, int64_t>> counts,
    bool commits = true) {
  std::vector<RowAppend> appends;
  std::vector<Part> parts;
  for (auto& [row, count] : counts) {
    count = std::min(count, state.max_append(row->id));
    appends.push_back({row->id, count});
    parts.push_back({row->takes, row->length, count});
  }
  Step step = state.begin(appends);
  const auto out = run(step, parts);
  if (!commits) {
    return;
  }
  step.commit_all();
  auto from = out.begin();
  for (const auto& [row, count] : counts) {
    for (int64_t i = 0; i < count; ++i, from += kHeads * kDim) {
      row->outputs[row->length++].assign(from, from + kHeads * kDim);
    }
  }
}

void grow(State& state, Row& row, int64_t length) {
  while (row.length < length) {
    step(state, {{&row, length - row.length}});
  }
}

// Four branches of one text: [0, kTrunk) is the same in all, and
// [kTrunk, kTrunk + kBranch) in the second and the fourth.
std::vector<Sequence> branches() {
  std::vector<Sequence> result;
  const Sequence trunk(kLength, 50);
  for (uint64_t b = 0; b < 4; ++b) {
    Sequence own(kLength, 51 + b);
    const Sequence& stem = b == 3 ? result[1] : trunk;
    const int64_t until = kTrunk + (b == 3 ? kBranch : 0);
    for (auto values : {&Sequence::q, &Sequence::k, &Sequence::v}) {
      const int64_t heads = values == &Sequence::q ? kHeads : kKvHeads;
      const auto from = (stem.*values).begin();
      std::copy(from, from + until * heads * kDim, (own.*values).begin());
    }
    result.push_back(std::move(own));
  }
  return result;
}

void expect_forks_like_single_rows(std::vector<LayerPhase> phases) {
  const auto texts = branches();
  State state(deep(phases, 2));
  std::vector<Row> rows;
  for (const Sequence& text : texts) {
    rows.push_back({.id = {}, .takes = &text});
  }
  rows[0].id = state.add_row();
  grow(state, rows[0], kTrunk);
  const auto fork = [&](size_t from, size_t to) {
    rows[to].id = state.fork_row(rows[from].id);
    rows[to].length = rows[from].length;
  };
  fork(0, 1);
  fork(0, 2);
  grow(state, rows[1], kTrunk + kBranch);
  fork(1, 3);
  for (const int64_t count : {1, 3, 1, 7}) {
    step(state, {{&rows[2], 2}, {&rows[1], count}, {&rows[3], 1}}, false);
    step(
        state,
        {{&rows[0], 1}, {&rows[1], 1}, {&rows[2], count}, {&rows[3], count}});
  }
  for (const Row& row : rows) {
    State alone(deep(phases, 1));
    Row single{.id = alone.add_row(), .takes = row.takes};
    grow(alone, single, row.length);
    for (const auto& [position, out] : row.outputs) {
      ASSERT_TRUE(same_bits(out, single.outputs.at(position)))
          << "branch " << &row - rows.data() << ", position " << position;
    }
  }
}

TEST(SharedRead, GivesForksTheBitsOfSingleRowsForEveryKindOfCodec) {
  for (const char* codec : {"bf16", "f32", "q8", "q4", "t4", "t3"}) {
    SCOPED_TRACE(codec);
    expect_forks_like_single_rows(same(codec));
  }
}

TEST(SharedRead, GivesForksTheBitsOfSingleRowsInEitherPhase) {
  // Before the fork; in each fork by itself; in the branches alone.
  for (const int64_t start : {300, 600, 700}) {
    SCOPED_TRACE(start);
    expect_forks_like_single_rows(then(start, "q8", "t3"));
  }
}

} // namespace
} // namespace holdfast
