// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model's arrays may be views of others, with their elements apart: layers
// read them as they read row-contiguous ones.

#include "tests/state/hybrid.h"

namespace holdfast {
namespace {

using namespace test;

constexpr int64_t kTokens = 30;

// The same values, the first dimension's neighbours side by side.
mx::array strided(const mx::array& x) {
  auto view = mx::swapaxes(mx::contiguous(mx::swapaxes(x, 0, -1)), 0, -1);
  mx::eval({view});
  EXPECT_FALSE(view.flags().row_contiguous);
  return view;
}

// Every second element of the last dimension of a wider array.
mx::array every_second(const mx::array& x) {
  const auto wide = mx::repeat(x, 2, -1);
  auto view = mx::slice(wide, {0, 0, 0}, wide.shape(), {1, 1, 2});
  mx::eval({view});
  EXPECT_FALSE(view.flags().row_contiguous);
  return view;
}

mx::array as_it_is(const mx::array& x) {
  return x;
}

using View = mx::array (*)(const mx::array&);

// The outputs of a layer and of one that reads it, two steps behind each other.
std::vector<float>
run_views(State& state, const Sequence& sequence, View q, View k, View v) {
  const RowId row = state.add_row();
  std::vector<float> all;
  for (const int64_t first : {int64_t{0}, kTokens}) {
    const RowAppend append{row, kTokens};
    Step step = state.begin({&append, 1});
    const std::vector<Part> parts{{&sequence, first, kTokens}};
    const auto queries = q(gather(parts, &Sequence::q, kHeads));
    auto own = step.attend(
        LayerIndex(0),
        queries,
        k(gather(parts, &Sequence::k, kKvHeads)),
        v(gather(parts, &Sequence::v, kKvHeads)));
    auto read = step.attend_donor(LayerIndex(1), queries);
    mx::eval({own, read});
    step.commit_all();
    for (const mx::array& out : {own, read}) {
      const auto values = values_of(out);
      all.insert(all.end(), values.begin(), values.end());
    }
  }
  const LayerView view = state.view({&row, 1}, LayerIndex(0));
  const std::vector<ViewQueries> behind{
      {.row = row, .count = kTokens, .start = Position(2 * kTokens)}};
  auto seen = view.attend(
      q(gather({{&sequence, 0, kTokens}}, &Sequence::q, kHeads)), behind);
  mx::eval({seen});
  const auto values = values_of(seen);
  all.insert(all.end(), values.begin(), values.end());
  return all;
}

TEST(Strided, QueriesKeysAndValuesGiveTheBitsOfContiguousOnes) {
  const Sequence sequence(2 * kTokens, 51);
  for (const char* codec : {"bf16", "q8"}) {
    for (const bool reference : {false, true}) {
      StateOptions with = options(codec);
      with.reference_read = reference;
      with.layers.resize(2);
      std::get<AttentionSpec>(with.layers[1]) =
          std::get<AttentionSpec>(with.layers[0]);
      std::get<AttentionSpec>(with.layers[1]).donor = LayerIndex(0);
      State state(with);
      const auto want =
          run_views(state, sequence, as_it_is, as_it_is, as_it_is);
      const auto expect_same = [&](View q, View k, View v) {
        const auto got = run_views(state, sequence, q, k, v);
        if (reference) { // MLX's own products are in the order that it likes
          EXPECT_LT(worst_difference(got, want), 1e-5f);
        } else {
          EXPECT_TRUE(same_bits(got, want));
        }
      };
      for (const View view : {strided, every_second}) {
        expect_same(view, as_it_is, as_it_is);
        expect_same(as_it_is, view, as_it_is);
        expect_same(as_it_is, as_it_is, view);
      }
      expect_same(strided, every_second, strided);
    }
  }
}

TEST(Strided, PartsOfALatentLayerGiveTheBitsOfContiguousOnes) {
  const Sequence sequence(2 * kTokens, 52);
  StateOptions with = options("q8");
  with.layers = {AttentionSpec{
      .query_heads = kHeads,
      .kv_heads = 1,
      .key_dim = kDim,
      .value_dim = kDim,
      .scale = 0.125f,
      .latent = true}};
  State state(with);
  const auto run = [&](View view) {
    const RowAppend append{state.add_row(), kTokens};
    Step step = state.begin({&append, 1});
    const auto part = [&](auto values, int64_t heads) {
      return gather({{&sequence, 0, kTokens}}, values, heads);
    };
    const auto q = part(&Sequence::q, kHeads);
    const auto one = [&](auto values) {
      return mx::slice(
          part(values, kKvHeads),
          {0, 0, 0},
          {static_cast<int>(kTokens), 1, static_cast<int>(kDim)});
    };
    auto out = step.attend(
        LayerIndex(0),
        view(mx::concatenate({q, q}, 2)),
        view(mx::contiguous(one(&Sequence::k))),
        view(mx::contiguous(one(&Sequence::v))));
    mx::eval({out});
    step.commit_all();
    return values_of(out);
  };
  EXPECT_TRUE(same_bits(run(strided), run(as_it_is)));
  EXPECT_TRUE(same_bits(run(every_second), run(as_it_is)));
}

TEST(Strided, InputsOfARecurrentLayerGiveTheBitsOfContiguousOnes) {
  const Hybrid model(kTokens);
  State state(hybrid());
  const auto want = model.append(state, state.add_row(), 0, kTokens);
  const RowAppend append{state.add_row(), kTokens};
  Step step = state.begin({&append, 1});
  auto out = step.recur(
      LayerIndex(0), model.weights(), strided(model.inputs(0, kTokens)));
  auto read = model.attend(step, 0, kTokens);
  mx::eval({out, read});
  step.commit_all();
  EXPECT_TRUE(same_bits(values_of(out), want));
}

} // namespace
} // namespace holdfast
