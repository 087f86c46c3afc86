// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/path.h"

#include <cstring>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/base/sha256.h"
#include "holdfast/block/layout.h"

namespace holdfast {

namespace {

constexpr size_t kDigestBytes = 32;
constexpr size_t kMarkHead = 10; // offset, kind, length
constexpr size_t kMarkBytes = kMarkHead + kDigestBytes;

std::string_view entry(std::string_view marks, size_t index) {
  const size_t at = index * kMarkBytes;
  return at < marks.size() ? marks.substr(at, kMarkBytes) : std::string_view();
}

int64_t offset_of(std::string_view entry) {
  return entry.empty() ? kBlockTokens : static_cast<unsigned char>(entry[0]);
}

/// The index of the first mark in which they differ.
size_t first_difference(std::string_view a, std::string_view b) {
  size_t index = 0;
  while (!entry(a, index).empty() && entry(a, index) == entry(b, index)) {
    ++index;
  }
  return index;
}

std::string encode(const TokenMark& mark, const Path& path) {
  const auto length = static_cast<uint64_t>((mark.end - mark.begin).get());
  std::string text(1, static_cast<char>(mark.bidirectional));
  for (int byte = 0; byte < 8; ++byte) {
    text.push_back(static_cast<char>(length >> (8 * byte) & 0xff));
  }
  std::string content = text + mark.digest;
  if (mark.bidirectional) {
    const auto tokens = path.tokens.subspan(
        static_cast<size_t>(mark.begin.get()), static_cast<size_t>(length));
    for (const int32_t token : tokens) {
      for (int byte = 0; byte < 4; ++byte) {
        content.push_back(
            static_cast<char>(static_cast<uint32_t>(token) >> (8 * byte)));
      }
    }
  }
  const Digest256 digest = sha256(content);
  const char offset = static_cast<char>(mark.begin.get() % kBlockTokens);
  return offset + text +
      std::string(
             reinterpret_cast<const char*>(digest.bytes.data()), kDigestBytes);
}

} // namespace

void require_path(const Path& path, const char* where) {
  Position free;
  for (const TokenMark& mark : path.marks) {
    const bool fits = mark.begin >= free && mark.end > mark.begin &&
        mark.begin < path.length() &&
        (!mark.bidirectional || mark.end <= path.length());
    if (!fits || (!mark.bidirectional && mark.digest.empty())) {
      throw Error(
          ErrorCode::kInvalidArgument,
          std::string(where) +
              " expected marks in order, bidirectional ones whole within the " +
              std::to_string(path.tokens.size()) + " tokens, got [" +
              std::to_string(mark.begin.get()) + ", " +
              std::to_string(mark.end.get()) + ")");
    }
    free = mark.end;
  }
}

std::vector<BidirectionalSpan> spans_of(const Path& path) {
  std::vector<BidirectionalSpan> spans;
  for (const TokenMark& mark : path.marks) {
    if (mark.bidirectional) {
      spans.push_back({mark.begin, mark.end});
    }
  }
  return spans;
}

std::vector<std::string> block_marks(const Path& path) {
  const int64_t blocks = ceil_div(std::ssize(path.tokens), kBlockTokens);
  std::vector<std::string> result(static_cast<size_t>(blocks));
  for (const TokenMark& mark : path.marks) {
    const auto block = static_cast<size_t>(mark.begin.get() / kBlockTokens);
    result[block] += encode(mark, path);
  }
  return result;
}

bool are_block_marks(std::string_view marks, int64_t tokens) {
  if (marks.size() % kMarkBytes != 0) {
    return false;
  }
  int64_t before = -1;
  for (size_t i = 0; i * kMarkBytes < marks.size(); ++i) {
    const int64_t offset = offset_of(entry(marks, i));
    if (offset <= before || offset >= tokens) {
      return false;
    }
    before = offset;
  }
  return true;
}

PathBlocks::PathBlocks(const Path& path)
    : path_(path),
      count_(ceil_div(std::ssize(path.tokens), kBlockTokens)),
      spans_(spans_of(path)) {
  if (!path.marks.empty()) {
    marks_ = block_marks(path);
  }
}

BlockText PathBlocks::operator[](int64_t block) const {
  const auto begin = static_cast<size_t>(block * kBlockTokens);
  const size_t size =
      std::min<size_t>(kBlockTokens, path_.tokens.size() - begin);
  return {
      path_.tokens.subspan(begin, size),
      marks_.empty() ? std::string_view()
                     : std::string_view(marks_[static_cast<size_t>(block)])};
}

BlockText leading(const BlockText& text, int64_t count) {
  size_t marks = 0;
  while (marks < text.marks.size() &&
         offset_of(text.marks.substr(marks, kMarkBytes)) < count) {
    marks += kMarkBytes;
  }
  return {
      text.tokens.first(static_cast<size_t>(count)),
      text.marks.substr(0, marks)};
}

int64_t common_run(const BlockText& a, const BlockText& b) {
  const size_t most = std::min(a.tokens.size(), b.tokens.size());
  auto run = static_cast<int64_t>(most);
  if (std::memcmp(a.tokens.data(), b.tokens.data(), most * sizeof(int32_t)) !=
      0) {
    const auto begin = a.tokens.begin();
    run = std::mismatch(begin, begin + run, b.tokens.begin()).first - begin;
  }
  if (a.marks != b.marks) [[unlikely]] {
    const size_t at = first_difference(a.marks, b.marks);
    run = std::min(
        {run, offset_of(entry(a.marks, at)), offset_of(entry(b.marks, at))});
  }
  return run;
}

int compare(const BlockText& a, const BlockText& b) {
  const int64_t run = common_run(a, b);
  if (run == a.size() || run == b.size()) {
    return a.size() < b.size() ? -1 : a.size() > b.size();
  }
  if (a.marks != b.marks) [[unlikely]] {
    const size_t at = first_difference(a.marks, b.marks);
    const auto here = [&](std::string_view marks) {
      const std::string_view found = entry(marks, at);
      return offset_of(found) == run ? found : std::string_view();
    };
    const int order = here(a.marks).compare(here(b.marks));
    if (order != 0) {
      return order;
    }
  }
  const auto at = static_cast<size_t>(run);
  return a.tokens[at] < b.tokens[at] ? -1 : 1;
}

} // namespace holdfast
