// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows that have leading blocks in common decode them once, and each query is
// in one piece.

#include "holdfast/kernels/cpu/latent_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

namespace holdfast::cpu {
namespace {

/// Rows of images that are never touched.
class Rows {
 public:
  explicit Rows(int64_t heads, int64_t window = 0) {
    spec_.query_heads = heads;
    spec_.kv_heads = 1;
    spec_.key_dim = 32;
    spec_.value_dim = 64;
    spec_.visibility.window = window;
    spec_.latent = true;
  }

  /// A row that shares up to the first `shared` blocks of another.
  void add(int64_t start, int64_t count, int64_t of = -1, int64_t shared = 0) {
    RowBlocks row;
    if (of >= 0) { // full blocks of both
      const int64_t least =
          std::min(start, spans_[static_cast<size_t>(of)].start);
      shared = std::min(shared, least / kBlockTokens);
    }
    for (int64_t b = 0; b * kBlockTokens < start + count; ++b) {
      row.images.push_back(
          of >= 0 && b < shared
              ? blocks_[static_cast<size_t>(of)].images[static_cast<size_t>(b)]
              : memory_ + 64 * ++made_);
    }
    spans_.push_back({.count = count, .start = start});
    blocks_.push_back(std::move(row));
  }
  /// Forgets the blocks that a window has left behind.
  void release() {
    for (size_t r = 0; r < spans_.size(); ++r) {
      const int64_t end =
          latent_begin(spec_, spans_[r], spans_[r].start) / kBlockTokens;
      std::fill_n(blocks_[r].images.begin(), end, nullptr);
    }
  }
  std::vector<LatentPiece> plan(int threads = 1) const {
    LatentJob job;
    job.spec = &spec_;
    job.rows = spans_;
    job.blocks = blocks_;
    return plan_latent(job, threads);
  }
  const AttentionSpec& spec() const {
    return spec_;
  }
  const std::vector<RowSpan>& spans() const {
    return spans_;
  }
  std::vector<RowBlocks>& blocks() {
    return blocks_;
  }

 private:
  AttentionSpec spec_;
  std::vector<RowSpan> spans_;
  std::vector<RowBlocks> blocks_;
  std::byte* memory_ = reinterpret_cast<std::byte*>(int64_t{1} << 40);
  int64_t made_ = 0;
};

TEST(LatentPlan, ReadsTheCommonBlocksOfForksInOnePiece) {
  Rows rows(6);
  rows.add(700, 1);
  rows.add(650, 2, 0, 10);
  rows.add(900, 1, 0, 9);
  rows.add(900, 1); // a stranger
  const auto pieces = rows.plan();
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].rows.size(), 3u);
  EXPECT_EQ(pieces[0].tokens(), 4);
  EXPECT_EQ(pieces[0].shared_end, 9);
  EXPECT_EQ(pieces[1].rows.front().row, 3);
  EXPECT_EQ(pieces[1].shared_end, 0);
  EXPECT_EQ(rows.plan(4).size(), 4u); // two parts of the heads each
}

TEST(LatentPlan, LeavesALongCommonPrefixToThoseThatHaveIt) {
  Rows rows(4);
  rows.add(2000, 1);
  rows.add(2000, 1, 0, 30);
  rows.add(2000, 1, 0, 5); // would cut 30 blocks to 5
  rows.add(2000, 1, 2, 30);
  const auto pieces = rows.plan();
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].shared_end, 30);
  EXPECT_EQ(pieces[1].shared_end, 30);
  EXPECT_EQ(pieces[1].rows.back().row, 3);
}

TEST(LatentPlan, KeepsRowsOfAnotherPhaseOrOfFewCommonBlocksApart) {
  Rows rows(4);
  rows.add(700, 1);
  rows.add(700, 1, 0, 10);
  rows.add(700, 1, 0, 3);
  rows.blocks()[1].phase = 1;
  EXPECT_EQ(rows.plan().size(), 3u);
}

TEST(LatentPlan, GivesEachQueryToOnePieceWhoseCommonBlocksAreTheSame) {
  std::mt19937 random(4);
  const auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  int64_t shared = 0;
  for (int draw = 0; draw < 400; ++draw) {
    Rows rows(1 + below(8), below(2) * (1 + below(600)));
    const int64_t count = 1 + below(10);
    for (int64_t r = 0; r < count; ++r) {
      rows.add(
          below(1200),
          1 + below(below(3) == 0 ? 40 : 4),
          below(r + 1) - 1,
          below(16));
    }
    rows.release();
    std::map<std::tuple<int64_t, int64_t, int64_t>, int> met;
    for (const LatentPiece& piece : rows.plan(1 + static_cast<int>(below(4)))) {
      ASSERT_LE(piece.tokens(), 16);
      ASSERT_GE(piece.heads, 1);
      ASSERT_EQ(piece.shared_end > 0, piece.rows.size() > 1);
      shared += piece.rows.size() > 1 ? 1 : 0;
      const auto& lead =
          rows.blocks()[static_cast<size_t>(piece.rows.front().row)].images;
      for (const LatentTokens& tokens : piece.rows) {
        const RowSpan& span = rows.spans()[static_cast<size_t>(tokens.row)];
        const auto& images =
            rows.blocks()[static_cast<size_t>(tokens.row)].images;
        const int64_t begin = latent_begin(rows.spec(), span, span.start);
        for (int64_t b = begin / kBlockTokens; b < piece.shared_end; ++b) {
          ASSERT_EQ(
              images.at(static_cast<size_t>(b)),
              lead.at(static_cast<size_t>(b)));
          ASSERT_NE(images[static_cast<size_t>(b)], nullptr);
          ASSERT_LE((b + 1) * kBlockTokens, span.start);
        }
        for (int64_t t = tokens.first; t < tokens.first + tokens.count; ++t) {
          for (int64_t h = piece.head; h < piece.head + piece.heads; ++h) {
            ++met[{tokens.row, t, h}];
          }
        }
      }
    }
    size_t queries = 0;
    for (const RowSpan& span : rows.spans()) {
      queries += static_cast<size_t>(span.count * rows.spec().query_heads);
    }
    ASSERT_EQ(met.size(), queries);
    ASSERT_TRUE(std::all_of(
        met.begin(), met.end(), [](const auto& of) { return of.second == 1; }));
  }
  EXPECT_GT(shared, 100);
}

} // namespace
} // namespace holdfast::cpu
