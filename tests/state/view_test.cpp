// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a view answers: the bits of a layer of the model that reads the same,
// under any spans, for rows of any phase and length side by side.

#include "tests/state/view_rig.h"

namespace holdfast {
namespace {

using namespace test;

constexpr Storage kStorages[] = {
    {"f32", "f32"},
    {"bf16", "bf16"},
    {"f16", "bf16"},
    {"q8", "q4"},
    {"t4", "t3"},
    {"q8", "t4", 70},
    {"t4", "t4", 270}};

TEST(View, HasTheBitsOfALayerOfTheModelThatReadsTheSame) {
  const Sequence sequence(330, 1);
  for (const Storage& storage : kStorages) {
    State state(view_options(storage));
    const RowId row = feed_new(state, sequence, 290);
    const Read2 want = feed_readers(state, row, {&sequence, 290, 40});
    const LayerView full = state.view({&row, 1}, kFullReader);
    const LayerView sliding = state.view({&row, 1}, kSlidingReader);
    EXPECT_EQ(full.length(row), Position(330));
    for (const int64_t chunk : {40, 7}) {
      Read2 got;
      for (int64_t at = 290; at < 330; at += chunk) {
        const Part part{&sequence, at, std::min<int64_t>(chunk, 330 - at)};
        for (const auto& [view, all] :
             {std::pair(&full, &got.full), std::pair(&sliding, &got.sliding)}) {
          const auto out = read_view(*view, row, part);
          all->insert(all->end(), out.begin(), out.end());
        }
      }
      EXPECT_TRUE(same_bits(want.full, got.full))
          << storage.keys << "/" << storage.values << " by " << chunk;
      EXPECT_TRUE(same_bits(want.sliding, got.sliding))
          << storage.keys << "/" << storage.values << " by " << chunk;
    }
  }
}

TEST(View, AgreesWithTheReferenceReadWhereThatIsTheLayersOwn) {
  const Sequence sequence(300, 2);
  StateOptions options = view_options({"f32", "f32"});
  options.reference_read = true;
  State state(options);
  State kernels(view_options({"f32", "f32"}));
  const RowId row = feed_new(state, sequence, 300);
  const RowId other = feed_new(kernels, sequence, 300);
  for (const LayerIndex layer : {kFullReader, kSlidingReader}) {
    const LayerView view = state.view({&row, 1}, layer);
    EXPECT_EQ(view.explain(), "reference.1 (asked for)");
    EXPECT_LT(
        worst_difference(
            read_view(view, row, {&sequence, 280, 20}),
            read_view(
                kernels.view({&other, 1}, layer), other, {&sequence, 280, 20})),
        2e-5f);
  }
}

TEST(View, TakesAReaderWithHeadsScaleCapWindowAndSinksOfItsOwn) {
  const Sequence sequence(400, 3);
  AttentionSpec spec = view_spec({.window = 250, .sinks = 70}, kFullLayer);
  spec.query_heads = 8;
  spec.scale = 0.2f;
  spec.softcap = 3.0f;
  spec.sink_logits = {0.5f, -1.0f, 2.0f, 0.0f, 0.1f, 1.0f, -2.0f, 0.3f};
  StateOptions with_reader = view_options({"bf16", "q8"});
  with_reader.layers[2] = spec;
  State model(with_reader);
  State plain(view_options({"bf16", "q8"}));
  const Sequence wide(800, 4);
  const auto q = mx::array(
      wide.q.data(), mx::Shape{60, 8, static_cast<int>(kDim)}, mx::float32);
  const RowId row = feed_new(plain, sequence, 400);
  const ReaderSpec reader{
      .query_heads = spec.query_heads,
      .scale = spec.scale,
      .softcap = spec.softcap,
      .visibility = spec.visibility,
      .sink_logits = spec.sink_logits};
  const auto got = read_view(
      plain.view({&row, 1}, kFullLayer, reader),
      q,
      {{.row = row, .count = 60, .start = Position(340)}});
  const RowId whole = model.add_row();
  for (const auto& [first, count] : {std::pair(0, 340), std::pair(340, 60)}) {
    const RowAppend append{whole, count};
    const Part part{&sequence, first, count};
    Step step = model.begin({&append, 1});
    const auto k = gather({part}, &Sequence::k, kKvHeads);
    const auto v = gather({part}, &Sequence::v, kKvHeads);
    auto own = step.attend(kFullLayer, queries_of(part), k, v);
    auto sliding = step.attend(kSlidingLayer, queries_of(part), k, v);
    if (first > 0) {
      auto out = step.attend_donor(kFullReader, q);
      mx::eval({out});
      EXPECT_TRUE(same_bits(values_of(out), got));
    }
    mx::eval({own, sliding});
    step.commit_all();
  }
}

// Softmax over the keys that a query sees, in f64 over what is stored.
std::vector<double> exact(
    const FetchedChannels& stored,
    const float* q,
    int64_t head,
    const auto& sees) {
  const int64_t of = head / (kHeads / kKvHeads);
  std::vector<double> out(kDim);
  double sum = 0;
  for (size_t i = 0; i < stored.positions.size(); ++i) {
    if (!sees(stored.positions[i])) {
      continue;
    }
    const auto at = (static_cast<int64_t>(i) * kKvHeads + of) * kDim;
    double score = 0;
    for (int64_t d = 0; d < kDim; ++d) {
      score += double(q[d]) * stored.keys[at + d];
    }
    const double weight = std::exp(score * 0.125);
    sum += weight;
    for (int64_t d = 0; d < kDim; ++d) {
      out[d] += weight * stored.values[at + d];
    }
  }
  for (double& x : out) {
    x /= sum;
  }
  return out;
}

TEST(View, SeesNothingOutsideTheSpansOfItsRows) {
  const Sequence sequence(700, 5);
  State state(view_options({"f32", "f32"}));
  const RowId row = feed_new(state, sequence, 600);
  const FetchedChannels stored = state.fetch(row, kFullLayer);
  std::mt19937 random(6);
  const auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  for (int draw = 0; draw < 60; ++draw) {
    const Visibility sees{below(3) ? 1 + below(400) : 0, below(2) * below(200)};
    const int64_t begin = below(600);
    const int64_t end = begin + 1 + below(600 - begin);
    const int64_t count = 1 + below(20);
    // The first query sees something for sure; the others because they are few.
    const int64_t reach = sees.window ? std::min<int64_t>(sees.window, 680) : 0;
    const int64_t start = reach
        ? std::min<int64_t>(begin + below(end - begin), 680)
        : std::min<int64_t>(begin + below(690 - begin), 680);
    const LayerView view = state.view(
        {&row, 1},
        kFullLayer,
        ReaderSpec{.query_heads = kHeads, .scale = 0.125f, .visibility = sees});
    const auto visible = [&](int64_t p, int64_t key) {
      return key >= begin && key < end && key <= p &&
          (sees.window == 0 || key > p - sees.window || key < sees.sinks);
    };
    const std::vector<ViewQueries> queries{
        {.row = row,
         .count = count,
         .start = Position(start),
         .seen = PositionRange{Position(begin), Position(end)}}};
    const auto q = queries_of({&sequence, start, count});
    bool all_see = true;
    for (int64_t t = 0; t < count; ++t) {
      bool any = false;
      for (int64_t key = begin; key < end; ++key) {
        any = any || visible(start + t, key);
      }
      all_see = all_see && any;
    }
    if (!all_see) {
      expect_error(
          ErrorCode::kInvalidArgument, [&] { view.attend(q, queries); });
      continue;
    }
    const auto got = read_view(view, q, queries);
    for (int64_t t = 0; t < count; ++t) {
      for (int64_t h = 0; h < kHeads; ++h) {
        const int64_t at = ((start + t) * kHeads + h) * kDim;
        const auto want =
            exact(stored, sequence.q.data() + at, h, [&](int64_t key) {
              return visible(start + t, key);
            });
        for (int64_t d = 0; d < kDim; ++d) {
          ASSERT_NEAR(got[(t * kHeads + h) * kDim + d], want[d], 2e-5)
              << "window " << sees.window << " sinks " << sees.sinks << " ["
              << begin << ", " << end << ") at " << start + t;
        }
      }
    }
  }
}

TEST(View, OfAPrefixHasTheBitsOfARowThatEndsThere) {
  const Sequence sequence(330, 7);
  for (const Storage& storage : {Storage{}, Storage{"t4", "q4"}}) {
    State state(view_options(storage));
    const RowId row = feed_new(state, sequence, 330);
    const RowId trimmed = state.fork_row(row); // its tail is a sealed block
    state.trim(trimmed, Position(300));
    const std::vector<RowId> rows{row, trimmed};
    const LayerView view = state.view(rows, kFullLayer);
    const RowId alone = feed_new(state, sequence, 300);
    const Part part{&sequence, 300, 3}; // behind all that is committed
    const auto want =
        read_view(state.view({&alone, 1}, kFullLayer), alone, part);
    EXPECT_TRUE(same_bits(want, read_view(view, trimmed, part)));
    EXPECT_TRUE(same_bits(
        want,
        read_view(
            view,
            queries_of(part),
            {{.row = row,
              .count = 3,
              .start = Position(300),
              .seen = PositionRange{Position(0), Position(300)}}})));
    EXPECT_FALSE(same_bits(want, read_view(view, row, part)));
  }
}

// Rows of both phases, forks that share blocks, and one row several times: each
// piece has the bits that it has alone.
TEST(View, GivesEachRowTheBitsItHasAlone) {
  const Sequence sequence(800, 8);
  const Sequence other(800, 9);
  for (const Storage& storage :
       {Storage{}, Storage{"q8", "t4", 580}, Storage{"t3", "t3", 545}}) {
    State state(view_options(storage, 2));
    std::vector<RowId> rows{
        feed_new(state, sequence, 540),
        feed_new(state, other, 40),
        feed_new(state, other, 300)};
    for (const int64_t more : {1, 30, 100}) {
      rows.push_back(state.fork_row(rows[0]));
      feed_readers(state, rows.back(), {&sequence, 540, more});
    }
    std::mt19937 random(10);
    const auto below = [&](int64_t n) {
      return int64_t(random() % uint64_t(n));
    };
    for (int draw = 0; draw < 20; ++draw) {
      const bool sliding = draw % 2;
      const ReaderSpec reader{
          .query_heads = kHeads,
          .scale = 0.125f,
          .visibility = {
              .window = below(3) ? 300 : 0, .sinks = below(2) * 256}};
      const LayerView view = sliding ? state.view(rows, kSlidingReader)
                                     : state.view(rows, kFullLayer, reader);
      std::vector<ViewQueries> pieces;
      std::vector<Part> parts;
      for (int64_t n = 1 + below(9); n > 0; --n) {
        const RowId row = rows[below(std::ssize(rows))];
        const int64_t length = state.length(row).get();
        ViewQueries piece{
            .row = row,
            .count = 1 + below(3),
            .start = Position(length - (sliding ? 0 : below(10)))};
        if (!sliding && below(2)) {
          const int64_t begin = below(2) * below(length - 20);
          piece.seen = PositionRange{Position(begin), Position(length)};
        }
        pieces.push_back(piece);
        parts.push_back({&sequence, piece.start.get(), piece.count});
      }
      const auto got =
          read_view(view, gather(parts, &Sequence::q, kHeads), pieces);
      std::vector<float> want;
      for (size_t i = 0; i < pieces.size(); ++i) {
        const auto out = read_view(view, queries_of(parts[i]), {pieces[i]});
        want.insert(want.end(), out.begin(), out.end());
      }
      ASSERT_TRUE(same_bits(want, got)) << "draw " << draw;
    }
  }
}

TEST(View, SeesTheBidirectionalSpansOfItsRows) {
  const Sequence sequence(200, 11);
  const std::vector<BidirectionalSpan> spans{
      {Position(5), Position(12)}, {Position(130), Position(190)}};
  State state(view_options({"q8", "q8"}));
  const RowId row = state.add_row();
  feed_readers(state, row, {&sequence, 0, 120}, spans);
  const Read2 want = feed_readers(state, row, {&sequence, 120, 80}, spans);
  for (const int64_t first : {120, 131, 160, 189}) { // also from within one
    const int64_t count = 200 - first;
    const Part part{&sequence, first, count};
    EXPECT_TRUE(same_bits(
        last_of(want.full, count),
        read_view(state.view({&row, 1}, kFullReader), row, part)))
        << first;
    EXPECT_TRUE(same_bits(
        last_of(want.sliding, count),
        read_view(state.view({&row, 1}, kSlidingReader), row, part)))
        << first;
  }
}

} // namespace
} // namespace holdfast
