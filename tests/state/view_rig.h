// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Helpers for tests of LayerView: a full and a sliding layer, each read by a
// layer of the model too, so that a view's answers can be compared with what
// Step::attend_donor gave. One thread.

#pragma once

#include <utility>
#include <vector>

#include "tests/state/layers.h"

namespace holdfast::test {

inline constexpr LayerIndex kFullLayer{0};
inline constexpr LayerIndex kSlidingLayer{1};
inline constexpr LayerIndex kFullReader{2}; // over kFullLayer
inline constexpr LayerIndex kSlidingReader{3}; // over kSlidingLayer

inline AttentionSpec
view_spec(Visibility visibility, std::optional<LayerIndex> donor = {}) {
  return {
      .query_heads = kHeads,
      .kv_heads = kKvHeads,
      .key_dim = kDim,
      .value_dim = kDim,
      .scale = 0.125f,
      .visibility = visibility,
      .donor = donor};
}

struct Storage {
  const char* keys = "bf16";
  const char* values = "bf16";
  int64_t start = 0; // > 0: bf16 before
};

inline StateOptions view_options(const Storage& storage = {}, int threads = 1) {
  StateOptions result = options("bf16", threads);
  result.layers = {
      view_spec({}),
      view_spec({.window = 100, .sinks = 5}),
      view_spec({}, kFullLayer),
      view_spec({.window = 80, .sinks = 3}, kSlidingLayer)};
  const Codec* keys = find_codec(storage.keys).value();
  const Codec* values = find_codec(storage.values).value();
  if (storage.start == 0) {
    result.precision.phases = always(keys, values);
  } else {
    result.precision.phases.push_back(
        {.keys = keys, .values = values, .start = Position(storage.start)});
  }
  return result;
}

/// What the two reading layers gave for some tokens.
struct Read2 {
  std::vector<float> full;
  std::vector<float> sliding;
};

inline Read2 run_readers(Step& step, const Part& part) {
  const auto k = gather({part}, &Sequence::k, kKvHeads);
  const auto v = gather({part}, &Sequence::v, kKvHeads);
  const auto q = gather({part}, &Sequence::q, kHeads);
  auto own = step.attend(kFullLayer, q, k, v);
  auto sliding = step.attend(kSlidingLayer, q, k, v);
  auto a = step.attend_donor(kFullReader, q);
  auto b = step.attend_donor(kSlidingReader, q);
  mx::eval({own, sliding, a, b});
  return {values_of(a), values_of(b)};
}

/// Appends and commits, in chunks that end where the precision changes.
inline Read2 feed_readers(
    State& state,
    RowId row,
    const Part& part,
    const std::vector<BidirectionalSpan>& spans = {}) {
  Read2 all;
  for (int64_t done = 0; done < part.count;) {
    const int64_t at = part.first + done;
    const int64_t count = state.fit_append(row, part.count - done, spans);
    const RowAppend append{
        row, count, spans_from(spans, Position(at), Position(at + count))};
    Step step = state.begin({&append, 1});
    const Read2 read = run_readers(step, {part.sequence, at, count});
    step.commit_all();
    all.full.insert(all.full.end(), read.full.begin(), read.full.end());
    all.sliding.insert(
        all.sliding.end(), read.sliding.begin(), read.sliding.end());
    done += count;
  }
  return all;
}

inline RowId feed_new(State& state, const Sequence& sequence, int64_t count) {
  const RowId row = state.add_row();
  feed_readers(state, row, {&sequence, 0, count});
  return row;
}

inline mx::array queries_of(const Part& part) {
  return gather({part}, &Sequence::q, kHeads);
}

inline std::vector<float> read_view(
    const LayerView& view,
    const mx::array& q,
    const std::vector<ViewQueries>& queries) {
  auto out = view.attend(q, queries);
  mx::eval({out});
  return values_of(out);
}

/// The sequence's own queries at those positions of the row.
inline std::vector<float>
read_view(const LayerView& view, RowId row, const Part& part) {
  return read_view(
      view,
      queries_of(part),
      {{.row = row, .count = part.count, .start = Position(part.first)}});
}

/// The last tokens' part of outputs.
inline std::vector<float> last_of(const std::vector<float>& all, int64_t n) {
  return {all.end() - n * kHeads * kDim, all.end()};
}

} // namespace holdfast::test
