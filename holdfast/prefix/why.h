// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Why a lookup reused what it reused: a value that every lookup returns, and
// its one line of text. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "holdfast/base/strong.h"
#include "holdfast/prefix/evicted.h"
#include "holdfast/tier/ids.h"

namespace holdfast {

struct Why {
  /// Where what is stored and the prompt part.
  enum class End {
    kPrompt, // they do not: the whole prompt is known
    kNothing, // nothing at all is known of this scope
    kDiffers, // another token, or other marks, at `matched`
    kStops, // what is known ends there
    kEvicted, // it went on there once
  };
  /// What kept a known prefix from being used, the largest such first.
  enum class Gap {
    kNone,
    kLastToken, // one token is always computed
    kSpan, // it would end within a bidirectional span
    kForeign, // others computed it, and no shorter part is whole
    kPrecision, // a cold run would store it in another phase
    kMissing, // an image was never kept
    kSnapshot, // a recurrent state was never kept
    kEvicted,
    kWriting, // it left RAM and is not on disk yet
    kUnreadable, // the disk failed
  };

  static constexpr size_t kEnds = 5;
  static constexpr size_t kGaps = 10;

  Position asked; // tokens of the prompt
  Position matched; // leading ones that are known
  Position usable;
  Position from_ram; // of the usable ones
  Position from_disk;

  End end = End::kNothing;
  std::optional<int32_t> expected; // the known token at `matched`
  std::optional<int32_t> got; // the prompt's
  std::optional<Evicted> end_evicted;

  Gap gap = Gap::kNone;
  int64_t gap_group = 0;
  BlockIndex gap_block;
  std::optional<Evicted> gap_evicted;

  /// More of the prompt is known under another signature or adapter of the
  /// same tenant, which differs so.
  std::string other_scope;
  Position other_matched;

  /// "reused 448 of 600 tokens (448 from RAM): token 512 differs: ..."
  std::string line() const;
};

/// A short stable name, such as "differs" and "snapshot".
const char* name(Why::End end);
const char* name(Why::Gap gap);

} // namespace holdfast
