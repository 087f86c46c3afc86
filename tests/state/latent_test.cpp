// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tests/state/layers.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;
using test::expect_error;

constexpr int64_t kQueryHeads = 5;
constexpr int64_t kKey = 32;
constexpr int64_t kLatent = 64;

AttentionSpec latent_spec(int64_t window) {
  return {
      .query_heads = kQueryHeads,
      .kv_heads = 1,
      .key_dim = kKey,
      .value_dim = kLatent,
      .scale = 0.1f,
      .visibility = {.window = window},
      .latent = true};
}

// A full layer, a sliding one, and one that reads the first.
StateOptions
latent_options(const char* codec, bool reference = false, int threads = 2) {
  StateOptions options = test::options(codec, threads);
  options.reference_read = reference;
  AttentionSpec reader = latent_spec(40);
  reader.donor = LayerIndex(0);
  options.layers = {latent_spec(0), latent_spec(20), reader};
  return options;
}

struct Inputs {
  Inputs(int64_t tokens, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& values, int64_t width) {
      values.resize(tokens * width);
      for (float& x : values) {
        x = normal(random);
      }
    };
    fill(q, kQueryHeads * (kLatent + kKey));
    fill(k, kKey);
    fill(v, kLatent);
  }
  mx::array part(
      const std::vector<float>& values,
      int64_t first,
      int64_t count,
      int64_t heads) const {
    const auto tokens = static_cast<int64_t>(k.size()) / kKey;
    const auto width = static_cast<int64_t>(values.size()) / tokens;
    return mx::array(
        values.data() + first * width,
        mx::Shape{
            static_cast<int>(count),
            static_cast<int>(heads),
            static_cast<int>(width / heads)},
        mx::float32);
  }
  std::vector<float> q, k, v;
};

// The outputs of the three layers, side by side.
std::vector<float>
run(State& state,
    const Inputs& inputs,
    int64_t tokens,
    int64_t chunk,
    BidirectionalSpans spans = {}) {
  const RowId row = state.add_row();
  std::vector<float> all;
  for (int64_t done = 0; done < tokens;) {
    const int64_t count =
        state.fit_append(row, std::min(chunk, tokens - done), spans);
    const RowAppend append{
        row, count, spans_from(spans, Position(done), Position(done + count))};
    Step step = state.begin({&append, 1});
    const auto q = inputs.part(inputs.q, done, count, kQueryHeads);
    const auto k = inputs.part(inputs.k, done, count, 1);
    const auto v = inputs.part(inputs.v, done, count, 1);
    auto out = mx::concatenate(
        {step.attend(LayerIndex(0), q, k, v),
         step.attend(LayerIndex(1), q, k, v),
         step.attend_donor(LayerIndex(2), q)},
        1);
    mx::eval({out});
    const auto values = test::values_of(out);
    all.insert(all.end(), values.begin(), values.end());
    step.commit_all();
    done += count;
  }
  state.remove_row(row);
  return all;
}

TEST(Latent, AgreesWithTheReferenceRead) {
  const Inputs inputs(150, 1);
  for (const char* codec : {"f32", "bf16", "q8g32", "t4"}) {
    State state(latent_options(codec));
    State reference(latent_options(codec, true));
    EXPECT_LT(
        test::worst_difference(
            run(state, inputs, 150, 40), run(reference, inputs, 150, 40)),
        2e-5f)
        << codec;
    EXPECT_NE(state.explain().find("layer 2: latent.1\n"), std::string::npos);
  }
}

TEST(Latent, SeesBidirectionalSpansInAnyChunks) {
  const Inputs inputs(150, 6);
  const std::vector<BidirectionalSpan> spans{
      {Position(5), Position(12)},
      {Position(50), Position(90)},
      {Position(128), Position(131)}};
  for (const char* codec : {"f32", "q8g32"}) {
    State state(latent_options(codec));
    State reference(latent_options(codec, true));
    const auto whole = run(state, inputs, 150, 150, spans);
    EXPECT_LT(
        test::worst_difference(whole, run(reference, inputs, 150, 40, spans)),
        2e-5f)
        << codec;
    EXPECT_GT(
        test::worst_difference(whole, run(state, inputs, 150, 150)), 1e-3f);
    for (const int64_t chunk : {1, 40, 64}) {
      EXPECT_TRUE(test::same_bits(whole, run(state, inputs, 150, chunk, spans)))
          << codec << " in chunks of " << chunk;
    }
  }
}

// Forks read the blocks they share once for all of them.
TEST(Latent, GivesForksThatReadTogetherTheBitsOfTheRowAlone) {
  constexpr int64_t kTrunk = 5 * kBlockTokens + 11;
  constexpr int64_t kEnd = kTrunk + 12;
  const Inputs inputs(kEnd, 8);
  for (const char* codec : {"bf16", "t4"}) {
    for (const int threads : {1, 2}) {
      StateOptions options = latent_options(codec, false, threads);
      options.layers[1] = latent_spec(300); // shares what all still see
      State state(options);
      const auto want = run(state, inputs, kEnd, kEnd);
      const int64_t width = std::ssize(want) / kEnd;
      const RowId trunk = state.add_row();
      std::vector<RowId> rows{trunk};
      // Rows at several places of the same text; all step together.
      std::vector<int64_t> at{0};
      while (*std::min_element(at.begin(), at.end()) < kEnd) {
        std::vector<RowAppend> appends;
        std::vector<int64_t> counts;
        std::vector<mx::array> q, k, v;
        for (size_t r = 0; r < rows.size(); ++r) {
          const int64_t wide =
              at[r] < kTrunk ? kTrunk - at[r] : 1 + static_cast<int64_t>(r % 3);
          const int64_t count = std::min(wide, kEnd - at[r]);
          counts.push_back(count);
          if (count == 0) {
            continue;
          }
          appends.push_back({rows[r], count});
          q.push_back(inputs.part(inputs.q, at[r], count, kQueryHeads));
          k.push_back(inputs.part(inputs.k, at[r], count, 1));
          v.push_back(inputs.part(inputs.v, at[r], count, 1));
        }
        Step step = state.begin(appends);
        const auto all_q = mx::concatenate(q, 0);
        const auto all_k = mx::concatenate(k, 0);
        const auto all_v = mx::concatenate(v, 0);
        auto out = mx::concatenate(
            {step.attend(LayerIndex(0), all_q, all_k, all_v),
             step.attend(LayerIndex(1), all_q, all_k, all_v),
             step.attend_donor(LayerIndex(2), all_q)},
            1);
        mx::eval({out});
        const auto got = test::values_of(out);
        step.commit_all();
        auto from = got.begin();
        for (size_t r = 0; r < rows.size(); ++r) {
          const std::vector<float> part(from, from + counts[r] * width);
          from += counts[r] * width;
          ASSERT_TRUE(test::same_bits(
              part,
              {want.begin() + at[r] * width,
               want.begin() + (at[r] + counts[r]) * width}))
              << codec << " row " << r << " at " << at[r];
          at[r] += counts[r];
        }
        while (at[0] == kTrunk && rows.size() < 6) {
          rows.push_back(state.fork_row(trunk));
          at.push_back(kTrunk);
        }
      }
    }
  }
}

TEST(Latent, KeepsANanOfTheFirstKeyThroughLaterBlocks) {
  Inputs inputs(100, 5);
  inputs.k[0] = std::numeric_limits<float>::quiet_NaN();
  const int64_t width = kQueryHeads * kLatent;
  for (const KernelPath path : {best_kernel_path(), KernelPath::kPlain}) {
    StateOptions options = latent_options("f32");
    options.runtime.path = path;
    State state(options);
    const auto out = run(state, inputs, 100, 100);
    for (const int64_t token : {0, 63, 64, 99}) {
      const float* full = out.data() + token * 3 * width;
      for (int64_t i = 0; i < width; ++i) {
        ASSERT_TRUE(std::isnan(full[i])) << token << ", " << i;
      }
    }
    const float* windowed = out.data() + 99 * 3 * width + width;
    EXPECT_TRUE(std::all_of(windowed, windowed + 2 * width, [](float x) {
      return std::isfinite(x);
    }));
  }
}

TEST(Latent, GivesTheSameBitsInAnyChunksOnAnyThreadsAndPaths) {
  const Inputs inputs(150, 2);
  State state(latent_options("bf16"));
  const auto want = run(state, inputs, 150, 150);
  for (const int64_t chunk : {1, 7, 64}) {
    EXPECT_TRUE(test::same_bits(want, run(state, inputs, 150, chunk))) << chunk;
  }
  for (const int threads : {1, 4}) {
    State other(latent_options("bf16", false, threads));
    EXPECT_TRUE(test::same_bits(want, run(other, inputs, 150, 3))) << threads;
  }
  StateOptions plain = latent_options("bf16");
  plain.runtime.path = KernelPath::kPlain;
  State other(plain);
  EXPECT_TRUE(test::same_bits(want, run(other, inputs, 150, 50)));
}

TEST(Latent, ChangesItsPrecisionWhereTheRowIsDue) {
  const Inputs inputs(150, 3);
  StateOptions options = latent_options("bf16");
  const Codec* codes = find_codec("q8g32").value();
  options.precision.phases.push_back(
      {.keys = codes, .values = codes, .start = Position(70)});
  State state(options);
  const auto want = run(state, inputs, 150, 150);
  EXPECT_TRUE(test::same_bits(want, run(state, inputs, 150, 11)));
  State never(latent_options("bf16"));
  EXPECT_FALSE(test::same_bits(want, run(never, inputs, 150, 150)));
}

TEST(Latent, IsViewedAsItsOwnReaderReadsIt) {
  const Inputs inputs(150, 7);
  for (const char* codec : {"f32", "q8g32"}) {
    State state(latent_options(codec));
    const RowId row = state.add_row();
    std::vector<float> want;
    for (const auto& [first, count] : {std::pair(0, 130), std::pair(130, 20)}) {
      const RowAppend append{row, count};
      Step step = state.begin({&append, 1});
      const auto q = inputs.part(inputs.q, first, count, kQueryHeads);
      const auto k = inputs.part(inputs.k, first, count, 1);
      const auto v = inputs.part(inputs.v, first, count, 1);
      auto full = step.attend(LayerIndex(0), q, k, v);
      auto sliding = step.attend(LayerIndex(1), q, k, v);
      auto read = step.attend_donor(LayerIndex(2), q);
      mx::eval({full, sliding, read});
      want = test::values_of(read);
      step.commit_all();
    }
    const auto answer = [&](const LayerView& view, const ViewQueries& queries) {
      auto out = view.attend(
          inputs.part(
              inputs.q, queries.start.get(), queries.count, kQueryHeads),
          {&queries, 1});
      mx::eval({out});
      return test::values_of(out);
    };
    const LayerView view = state.view({&row, 1}, LayerIndex(2));
    EXPECT_EQ(view.explain(), "latent.1");
    const ViewQueries last{.row = row, .count = 20, .start = Position(130)};
    EXPECT_TRUE(test::same_bits(want, answer(view, last)));
    EXPECT_TRUE(test::same_bits(want, answer(view.pin(), last)));
    // A window of 40 that begins where the span does.
    const ViewQueries one{.row = row, .count = 1, .start = Position(149)};
    ViewQueries cut = one;
    cut.seen = PositionRange{Position(110), Position(150)};
    const LayerView full = state.view({&row, 1}, LayerIndex(0));
    EXPECT_TRUE(test::same_bits(answer(view, one), answer(full, cut)));
  }
}

TEST(Latent, IsFetchedAsItsKeyAndItsLatentAlsoThroughALayerOverIt) {
  const Inputs inputs(150, 11);
  State state(latent_options("f32"));
  const RowId row = state.add_row();
  const RowAppend append{row, 150};
  Step step = state.begin({&append, 1});
  const auto q = inputs.part(inputs.q, 0, 150, kQueryHeads);
  const auto k = inputs.part(inputs.k, 0, 150, 1);
  const auto v = inputs.part(inputs.v, 0, 150, 1);
  auto out = mx::concatenate(
      {step.attend(LayerIndex(0), q, k, v),
       step.attend(LayerIndex(1), q, k, v),
       step.attend_donor(LayerIndex(2), q)},
      1);
  mx::eval({out});
  step.commit_all();
  for (const int64_t layer : {0, 1, 2}) {
    const FetchedChannels got = state.fetch(row, LayerIndex(layer));
    EXPECT_EQ(got.heads, 1);
    EXPECT_EQ(got.key_dim, kKey);
    EXPECT_EQ(got.value_dim, kLatent);
    // The window of 20 has left the first two blocks.
    const int64_t first = layer == 1 ? 128 : 0;
    ASSERT_EQ(std::ssize(got.positions), 150 - first);
    EXPECT_EQ(got.positions.front(), first);
    EXPECT_TRUE(test::same_bits(
        got.keys, {inputs.k.begin() + first * kKey, inputs.k.end()}));
    EXPECT_TRUE(test::same_bits(
        got.values, {inputs.v.begin() + first * kLatent, inputs.v.end()}));
  }
}

TEST(Latent, IsStoredOnceForAllHeads) {
  StateOptions options = latent_options("f32");
  options.layers.resize(1);
  EXPECT_EQ(State(options).bytes_per_token(), Bytes((kLatent + kKey) * 4));
}

TEST(Latent, IsRefusedWithHeadsAndReadByTheReferenceUnderACap) {
  StateOptions options = latent_options("f32");
  options.layers.resize(1);
  auto& spec = std::get<AttentionSpec>(options.layers[0]);
  spec.softcap = 30.0f;
  EXPECT_NE(
      State(options).explain().find("reference.1; not latent.1"),
      std::string::npos);
  spec.softcap = 0.0f;
  spec.kv_heads = 5;
  expect_error(ErrorCode::kInvalidArgument, [&] { State state(options); });
  const Inputs inputs(4, 4);
  State state(latent_options("f32"));
  const RowAppend append{state.add_row(), 4};
  Step step = state.begin({&append, 1});
  const auto k = inputs.part(inputs.k, 0, 4, 1);
  const auto v = inputs.part(inputs.v, 0, 4, 1);
  expect_error(ErrorCode::kInvalidArgument, [&] {
    step.attend(LayerIndex(0), k, k, v); // queries of another size
  });
}

} // namespace
} // namespace holdfast
