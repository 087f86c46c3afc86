// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A drafter whose state at a position depends on the token behind it too. It
// has a State and a signature of its own, and its positions are named by the
// tokens that they end with, so what its target may reuse is not what it may.

#include <algorithm>

#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;
using Tokens = std::vector<int32_t>;

/// The vectors that a model makes of these tokens. `ahead`: of each token and
/// the next one, so one position fewer.
Sequence vectors_of(const Tokens& text, bool ahead) {
  Sequence all(0, 0);
  for (size_t i = 0; i + (ahead ? 1 : 0) < text.size(); ++i) {
    Sequence one(1, static_cast<uint64_t>(text[i]));
    for (auto values : {&Sequence::q, &Sequence::k, &Sequence::v}) {
      std::vector<float>& of = one.*values;
      if (ahead) {
        const Sequence next(1, static_cast<uint64_t>(text[i + 1]));
        std::ranges::transform(
            of, next.*values, of.begin(), [](float a, float b) {
              return a + 0.5f * b;
            });
      }
      (all.*values).insert((all.*values).end(), of.begin(), of.end());
    }
  }
  return all;
}

Tokens text_of(int64_t shared, int32_t then) {
  Tokens text(static_cast<size_t>(shared));
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<int32_t>(i * 7 % 31);
  }
  text.resize(text.size() + 10, then);
  return text;
}

int64_t in_common(const Tokens& a, const Tokens& b) {
  return std::ranges::mismatch(a, b).in1 - a.begin();
}

/// What goes on from the first `kept` positions of a snapshot.
std::vector<float> go_on(
    State& state,
    const Snapshot& from,
    const Sequence& sequence,
    int64_t kept,
    int64_t positions) {
  const RowId row = state.adopt(from);
  state.trim(row, Position(kept));
  return append_to(state, row, {&sequence, kept, positions - kept});
}

std::vector<float>
tail_of(const std::vector<float>& all, int64_t kept, int64_t positions) {
  return {all.end() - (positions - kept) * kHeads * kDim, all.end()};
}

TEST(Fault, B98ADraftersStateIsCutByItsOwnTokensAndRefusedByItsTarget) {
  const Tokens asked = text_of(40, 101);
  const Tokens stored = text_of(40, 102);
  const auto of = static_cast<int64_t>(asked.size());
  for (const char* codec : {"bf16", "q8", "t4"}) {
    State target(options(codec));
    StateOptions draft_options = options(codec);
    draft_options.identity = {{"drafter", "sees one token ahead"}};
    State drafter(draft_options);
    const RowId row = target.add_row();
    const Sequence first = vectors_of(stored, false);
    append_to(target, row, {&first, 0, of});
    const Snapshot kept = target.snapshot(row, stored);
    const Tokens stored_ends(stored.begin() + 1, stored.end());
    const Tokens asked_ends(asked.begin() + 1, asked.end());
    const Sequence draft_stored = vectors_of(stored, true);
    const RowId draft = drafter.add_row();
    append_to(drafter, draft, {&draft_stored, 0, of - 1});
    const Snapshot drafted = drafter.snapshot(draft, stored_ends);

    const std::string text =
        expect_error(ErrorCode::kUnsupported, [&] { target.adopt(drafted); });
    EXPECT_NE(text.find("drafter"), std::string::npos) << text;
    expect_error(ErrorCode::kUnsupported, [&] { drafter.adopt(kept); });
    // The target's tokens are no name of the drafter's state.
    expect_error(
        ErrorCode::kInvalidArgument, [&] { drafter.snapshot(draft, stored); });

    const int64_t reused = in_common(asked, stored);
    const int64_t draft_reused = in_common(asked_ends, stored_ends);
    EXPECT_EQ(reused, 40);
    EXPECT_EQ(draft_reused, 39);
    const Sequence want = vectors_of(asked, false);
    const Sequence draft_want = vectors_of(asked, true);
    EXPECT_TRUE(same_bits(
        go_on(target, kept, want, reused, of),
        tail_of(run_alone(target, want, {of}), reused, of)));
    const auto cold = run_alone(drafter, draft_want, {of - 1});
    EXPECT_TRUE(same_bits(
        go_on(drafter, drafted, draft_want, draft_reused, of - 1),
        tail_of(cold, draft_reused, of - 1)));
    // One position more, as the target's tokens would say, is another text's.
    EXPECT_FALSE(same_bits(
        go_on(drafter, drafted, draft_want, reused, of - 1),
        tail_of(cold, reused, of - 1)));
  }
}

} // namespace
} // namespace holdfast
