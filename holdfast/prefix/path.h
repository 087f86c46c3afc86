// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A run of tokens from position 0 on, with what stands behind some of them:
// media, and spans whose tokens see each other. The same tokens under other
// marks are another text. A view; any thread.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/rows/bidirectional.h"

namespace holdfast {

/// Positions [begin, end) that are an image, a sound, or see each other.
struct TokenMark {
  Position begin;
  Position end;
  bool bidirectional = false;
  std::string digest = {}; // SHA-256 of what stands behind them; "": nothing
};

struct Path {
  std::span<const int32_t> tokens;
  std::span<const TokenMark> marks = {}; // in order, no common positions

  Position length() const {
    return Position(std::ssize(tokens));
  }
};

/// Throws kInvalidArgument unless the marks are in order, say something, and
/// begin within the tokens, bidirectional ones lying there whole.
void require_path(const Path& path, const char* where);

/// The bidirectional ones.
std::vector<BidirectionalSpan> spans_of(const Path& path);

/// The tokens of one block and the marks that begin among them, so encoded
/// that a node's can be stored and compared as bytes.
struct BlockText {
  std::span<const int32_t> tokens;
  std::string_view marks = {};

  int64_t size() const {
    return std::ssize(tokens);
  }
};

/// The path's marks, [block], each block's encoded. One mark is 42 bytes: its
/// offset in the block, whether it is bidirectional, its length (64 bit, little
/// endian), and SHA-256 over all of that but the offset, its digest and, of a
/// bidirectional one, its tokens: what a position of such a span holds depends
/// on those of later blocks as well.
std::vector<std::string> block_marks(const Path& path);
/// False for what block_marks gives for no block of that many tokens.
bool are_block_marks(std::string_view marks, int64_t tokens);

/// The path cut into blocks.
class PathBlocks {
 public:
  explicit PathBlocks(const Path& path);
  int64_t count() const {
    return count_;
  }
  /// The last may be shorter than a block.
  BlockText operator[](int64_t block) const;
  const std::vector<BidirectionalSpan>& spans() const {
    return spans_;
  }
  Position length() const {
    return path_.length();
  }

 private:
  Path path_;
  int64_t count_;
  std::vector<std::string> marks_; // empty where there are none
  std::vector<BidirectionalSpan> spans_;
};

/// The first positions of a block.
BlockText leading(const BlockText& text, int64_t count);
/// How many leading positions of both hold the same, marks included.
int64_t common_run(const BlockText& a, const BlockText& b);
/// Lexicographic over (mark, token) of each position, a prefix first: < 0, 0 or
/// > 0. Whatever is ordered so has the longest common run with a text at one of
/// the text's neighbours.
int compare(const BlockText& a, const BlockText& b);

} // namespace holdfast
