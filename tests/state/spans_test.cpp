// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows with bidirectional spans: images and prompts that see themselves whole.

#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;
using Spans = std::vector<BidirectionalSpan>;

constexpr int64_t kLength = 200;
constexpr int64_t kStart = 70;

/// Over the start of a phase; from a block's start; longer than the windows.
const Spans kSpans{
    {Position(10), Position(13)},
    {Position(60), Position(77)},
    {Position(128), Position(180)}};

/// Dense, then encoded from kStart on; with `keys` null always bf16.
StateOptions options_of(const char* keys, const char* values) {
  StateOptions result = options();
  if (keys) {
    result.precision.phases.push_back(
        {.keys = find_codec(keys).value(),
         .values = find_codec(values).value(),
         .start = Position(kStart)});
  }
  std::get<AttentionSpec>(result.layers[2]).visibility.sinks = 5;
  return result;
}

RowAppend append_of(RowId row, int64_t first, int64_t count, const Spans& all) {
  return {
      row, count, spans_from(all, Position(first), Position(first + count))};
}

/// Appends to the row's `last` position in chunks of about that size.
std::vector<float> feed(
    State& state,
    RowId row,
    const Sequence& sequence,
    int64_t last,
    int64_t chunk,
    const Spans& spans = kSpans) {
  std::vector<float> all;
  for (int64_t at = state.length(row).get(); at < last;) {
    const int64_t count =
        state.fit_append(row, std::min(chunk, last - at), spans);
    const RowAppend append = append_of(row, at, count, spans);
    Step step = state.begin({&append, 1});
    const auto out = run_layers(step, {{&sequence, at, count}});
    step.commit_all();
    all.insert(all.end(), out.begin(), out.end());
    at += count;
  }
  return all;
}

std::vector<float> tail_of(const std::vector<float>& all, int64_t first) {
  return {all.begin() + first * kHeads * kDim, all.end()};
}

std::vector<int32_t> tokens_of(int64_t count) {
  return std::vector<int32_t>(static_cast<size_t>(count), 7);
}

struct Codecs {
  const char* keys;
  const char* values;
};
constexpr Codecs kCodecs[] = {{nullptr, nullptr}, {"q8", "q4"}, {"t4", "t3"}};

TEST(Spans, GiveTheSameBitsInAnyChunksThatCutNone) {
  const Sequence sequence(kLength, 501);
  for (const auto& [keys, values] : kCodecs) {
    State state(options_of(keys, values));
    const auto want = feed(state, state.add_row(), sequence, kLength, kLength);
    for (const int64_t chunk : {1, 7, 64}) {
      EXPECT_TRUE(same_bits(
          want, feed(state, state.add_row(), sequence, kLength, chunk)))
          << (keys ? keys : "bf16") << " in chunks of " << chunk;
    }
    EXPECT_GT(
        worst_difference(
            want, feed(state, state.add_row(), sequence, kLength, 64, {})),
        1e-3f);
  }
}

TEST(Spans, GiveTheSameBitsForkedMergedAdoptedAndBesideOthers) {
  const Sequence sequence(kLength, 502);
  const Sequence other(kLength, 503);
  for (const auto& [keys, values] : kCodecs) {
    State state(options_of(keys, values));
    const auto want = feed(state, state.add_row(), sequence, kLength, kLength);
    const RowId row = state.add_row();
    feed(state, row, sequence, 77, 64); // to the end of a span
    const Snapshot kept = state.snapshot(row, tokens_of(77));
    State apart = state.extract(std::vector<RowId>{row});
    State elsewhere(options_of(keys, values));
    const RowId adopted = elsewhere.adopt(kept);
    const RowId fork = state.fork_row(row);
    const RowId merged = state.merge(apart, apart.rows())[0];
    const RowId neighbour = state.add_row();
    const auto rest = tail_of(want, 77);
    EXPECT_TRUE(
        same_bits(rest, feed(elsewhere, adopted, sequence, kLength, 30)));
    EXPECT_TRUE(same_bits(rest, feed(state, fork, sequence, kLength, 200)));
    EXPECT_TRUE(same_bits(rest, feed(state, merged, sequence, kLength, 9)));
    // One step of two rows, each with spans of its own.
    const std::vector<RowAppend> both{
        {neighbour, 50, {{Position(0), Position(40)}}},
        append_of(row, 77, kLength - 77, kSpans)};
    Step step = state.begin(both);
    const auto out =
        run_layers(step, {{&other, 0, 50}, {&sequence, 77, kLength - 77}});
    step.commit_all();
    EXPECT_TRUE(same_bits(rest, tail_of(out, 50)));
  }
}

TEST(Spans, AgreeWithTheReferenceRead) {
  const Sequence sequence(kLength, 504);
  for (const bool softcap : {false, true}) {
    StateOptions with = options("f32");
    for (auto& layer : with.layers) {
      std::get<AttentionSpec>(layer).softcap = softcap ? 2.0f : 0.0f;
      std::get<AttentionSpec>(layer).sink_logits.assign(kHeads, 0.3f);
    }
    std::get<AttentionSpec>(with.layers[1]).visibility.sinks = 30;
    std::get<AttentionSpec>(with.layers[2]).visibility.spans = false;
    StateOptions reference = with;
    reference.reference_read = true;
    State ours(with);
    State theirs(reference);
    EXPECT_LT(
        worst_difference(
            feed(ours, ours.add_row(), sequence, kLength, 50),
            feed(theirs, theirs.add_row(), sequence, kLength, 90)),
        2e-5f);
  }
}

TEST(Spans, LeaveDraftsThatWereRejectedBehind) {
  const Sequence sequence(kLength, 505);
  const Sequence wrong(kLength, 506);
  State state(options_of("q8", "t4"));
  const auto want = feed(state, state.add_row(), sequence, kLength, kLength);
  const RowId row = state.add_row();
  feed(state, row, sequence, 50, 50);
  const RowAppend draft{row, 20, {{Position(53), Position(70)}}};
  for (const int64_t accepted : {0, 3}) {
    Step step = state.begin({&draft, 1});
    run_layers(step, {{&sequence, 50, accepted}, {&wrong, 50, 20 - accepted}});
    for (const int64_t cut : {4, 19}) {
      expect_error(ErrorCode::kInvalidArgument, [&] {
        step.commit({&cut, 1});
      });
    }
    step.commit({&accepted, 1});
    EXPECT_EQ(state.length(row), Position(50 + accepted));
    if (accepted == 0) {
      continue;
    }
    EXPECT_TRUE(
        same_bits(tail_of(want, 53), feed(state, row, sequence, kLength, 200)));
  }
}

TEST(Spans, AreRefusedInPartBeforeAnythingChanges) {
  const Sequence sequence(kLength, 507);
  State state(options_of("q4", "q4"));
  const RowId row = state.add_row();
  feed(state, row, sequence, 50, 50);
  const Bytes bytes = state.bytes();
  const auto refuses = [&](RowAppend append) {
    expect_error(ErrorCode::kInvalidArgument, [&] {
      Step step = state.begin({&append, 1});
    });
    EXPECT_EQ(state.bytes(), bytes);
    EXPECT_EQ(state.length(row), Position(50));
  };
  refuses({row, 20, {{Position(60), Position(77)}}}); // a chunk would cut it
  refuses({row, 5, {{Position(49), Position(52)}}});
  refuses({row, 28, {{Position(60), Position(77)}}}); // beyond its end
  refuses({row, 27}); // over the start, without the span
  EXPECT_EQ(state.max_append(row), 20);
  EXPECT_EQ(state.max_append(row, kSpans), 27);
}

TEST(Spans, ConvertARowAtTheEndOfTheOneOverTheStart) {
  const Sequence sequence(kLength, 508);
  State state(options_of("q8", "q4"));
  const RowId row = state.add_row();
  State always_encoded(options("q8"));
  feed(state, row, sequence, 77, 77);
  // Dense to the end of the span, encoded from the next append on.
  EXPECT_EQ(state.fetch(row, LayerIndex(0)).positions.size(), 77u);
  const FetchedChannels dense = state.fetch(row, LayerIndex(0));
  for (size_t i = 0; i < dense.keys.size(); ++i) {
    ASSERT_NEAR(dense.keys[i], sequence.k[i], 0.02f);
  }
  feed(state, row, sequence, 82, 1); // no window has left a block
  const RowId other = always_encoded.add_row();
  feed(always_encoded, other, sequence, 82, 82, {});
  EXPECT_TRUE(same_bits(
      state.fetch(row, LayerIndex(0)).keys,
      always_encoded.fetch(other, LayerIndex(0)).keys));
  // No prefix that a cold run would hold densely, and no part of the span.
  EXPECT_EQ(state.reusable_floor(row), Position(77));
}

TEST(Spans, OfAWholePromptAreReusedOnlyWhole) {
  const Sequence sequence(kLength, 509);
  const Spans prompt{{Position(0), Position(40)}};
  StateOptions full = options("t4");
  for (auto& layer : full.layers) {
    std::get<AttentionSpec>(layer).visibility.window = 0;
  }
  State state(full);
  const RowId row = state.add_row();
  EXPECT_EQ(state.fit_append(row, 16, prompt), 40);
  const auto want = feed(state, row, sequence, 90, 16, prompt);
  const Snapshot kept = state.snapshot(row, tokens_of(90));
  EXPECT_EQ(kept.reusable_floor(), Position(40));
  EXPECT_EQ(kept.reusable_length(Position(39)), Position(0));
  EXPECT_EQ(kept.reusable_length(Position(60)), Position(60));
  EXPECT_TRUE(std::ranges::equal(kept.spans(), prompt));
  State later(full);
  const RowId again = later.adopt(kept);
  for (const int64_t inside : {1, 39}) {
    const std::string text = expect_error(
        ErrorCode::kUnsupported, [&] { later.trim(again, Position(inside)); });
    EXPECT_NE(text.find("[0, 40)"), std::string::npos) << text;
  }
  EXPECT_EQ(later.length(again), Position(90));
  later.trim(again, Position(40));
  EXPECT_TRUE(same_bits(
      tail_of(want, 40), feed(later, again, sequence, 90, 7, prompt)));
  later.trim(again, Position(0));
  EXPECT_TRUE(same_bits(want, feed(later, again, sequence, 90, 90, prompt)));
}

TEST(Spans, ProjectTheBytesThatTheirRowTakes) {
  const Sequence sequence(kLength, 510);
  const Spans spans{{Position(60), Position(190)}};
  State state(options_of("q4", "t3"));
  const RowId row = state.add_row();
  const Bytes projected = state.projected_bytes(row, kLength, 20, spans);
  EXPECT_GT(projected, state.projected_bytes(row, kLength, 20));
  Bytes most(0);
  for (const int64_t last : {60, 190, 191, 200}) {
    feed(state, row, sequence, last, 20, spans);
    most = std::max(most, state.retained_bytes(row));
  }
  EXPECT_LE(most, projected);
  EXPECT_LE(state.peak_bytes(), projected);
}

} // namespace
} // namespace holdfast
