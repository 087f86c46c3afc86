// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/latent_plan.h"

#include <algorithm>
#include <numeric>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/attend_visible.h"

namespace holdfast::cpu {

namespace {

/// Queries that share a decoded block: so many tokens, some heads each.
constexpr int64_t kPieceTokens = 16;
/// Fewer common blocks are not worth a piece that threads cannot share out.
constexpr int64_t kLeastShared = 4;

int64_t first_block(const LatentJob& job, const LatentTokens& tokens) {
  const RowSpan& row = job.rows[static_cast<size_t>(tokens.row)];
  return latent_begin(*job.spec, row, row.start + tokens.first) / kBlockTokens;
}

/// The end of the blocks from `begin` on that two rows have in common.
int64_t common_end(const LatentJob& job, int64_t a, int64_t b, int64_t begin) {
  const auto& left = job.blocks[static_cast<size_t>(a)].images;
  const auto& right = job.blocks[static_cast<size_t>(b)].images;
  const int64_t end = std::min(std::ssize(left), std::ssize(right));
  int64_t block = begin;
  while (block < end && left[static_cast<size_t>(block)] != nullptr &&
         left[static_cast<size_t>(block)] ==
             right[static_cast<size_t>(block)]) {
    ++block;
  }
  return block;
}

/// Adds a row's tokens to a piece that gains by it: what the piece shares stays
/// at least half of what it shared, so that a short prefix spoils no long one.
bool join(
    const LatentJob& job,
    LatentPiece& piece,
    const LatentTokens& tokens) {
  const LatentTokens& lead = piece.rows.front();
  if (job.blocks[static_cast<size_t>(lead.row)].phase !=
          job.blocks[static_cast<size_t>(tokens.row)].phase ||
      piece.tokens() + tokens.count > kPieceTokens) {
    return false;
  }
  int64_t begin = first_block(job, tokens);
  for (const LatentTokens& other : piece.rows) {
    begin = std::min(begin, first_block(job, other));
  }
  int64_t end = piece.rows.size() > 1
      ? piece.shared_end
      : std::ssize(job.blocks[static_cast<size_t>(lead.row)].images);
  const int64_t before = piece.rows.size() > 1 ? end - begin : 0;
  end = std::min(end, common_end(job, lead.row, tokens.row, begin));
  if (end - begin < std::max(kLeastShared, before / 2)) {
    return false;
  }
  piece.rows.push_back(tokens);
  piece.shared_end = end;
  return true;
}

} // namespace

int64_t LatentPiece::tokens() const {
  return std::accumulate(
      rows.begin(), rows.end(), int64_t{0}, [](int64_t sum, const auto& of) {
        return sum + of.count;
      });
}

int64_t
latent_begin(const AttentionSpec& spec, const RowSpan& row, int64_t position) {
  return first_seen(spec.visibility, sight_at(spec.visibility, row, position));
}

std::vector<LatentPiece> plan_latent(const LatentJob& job, int threads) {
  std::vector<LatentPiece> whole; // of all heads
  for (int64_t r = 0; r < std::ssize(job.rows); ++r) {
    const int64_t count = job.rows[static_cast<size_t>(r)].count;
    for (int64_t t = 0; t < count; t += kPieceTokens) {
      const LatentTokens tokens{r, t, std::min(kPieceTokens, count - t)};
      const bool joined =
          tokens.count == count &&
          std::any_of(whole.begin(), whole.end(), [&](LatentPiece& piece) {
            return piece.rows.front().row != r && join(job, piece, tokens);
          });
      if (!joined) {
        whole.push_back({.rows = {tokens}});
      }
    }
  }
  // Few pieces: each thread takes some of the heads.
  const int64_t heads = job.spec->query_heads;
  const int64_t parts = std::clamp<int64_t>(
      ceil_div(threads, std::max<int64_t>(std::ssize(whole), 1)), 1, heads);
  const int64_t part_heads = ceil_div(heads, parts);
  std::vector<LatentPiece> pieces;
  for (LatentPiece& piece : whole) {
    for (int64_t head = 0; head < heads; head += part_heads) {
      piece.head = head;
      piece.heads = std::min(part_heads, heads - head);
      pieces.push_back(piece);
    }
  }
  return pieces;
}

} // namespace holdfast::cpu
