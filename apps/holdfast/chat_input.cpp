// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "chat_input.h"

#include <cerrno>
#include <cstring>
#include <string_view>

#include <poll.h>
#include <unistd.h>

#include "holdfast/base/status.h"

namespace holdfast::app {

namespace {

constexpr std::string_view kQuotes = "\"\"\"";

/// The rest of a block whose first line was `first`, without its quotes.
ChatInput
read_block(std::string first, const std::function<Line(bool)>& next_line) {
  ChatInput input{.text = std::move(first)};
  while (!input.text.ends_with(kQuotes)) {
    const Line line = next_line(true);
    if (line.end != LineEnd::kLine) {
      return {.end = line.end}; // what was begun is dropped
    }
    input.text += '\n' + line.text;
  }
  input.text.resize(input.text.size() - kQuotes.size());
  // The quotes may stand on lines of their own.
  if (input.text.starts_with('\n')) {
    input.text.erase(0, 1);
  }
  if (input.text.ends_with('\n')) {
    input.text.pop_back();
  }
  return input;
}

} // namespace

// A signal may come between a look at the flag and the call that waits, and
// would not end that: so the wait is in short pieces.
bool LineReader::await_input() const {
  constexpr int kPieceMs = 50;
  pollfd input{.fd = descriptor_, .events = POLLIN, .revents = 0};
  while (!interrupted_.load()) {
    const int ready = poll(&input, 1, kPieceMs);
    if (ready > 0 || (ready < 0 && errno != EINTR)) {
      return true; // an error is the read's to tell
    }
  }
  return false;
}

Line LineReader::next() {
  for (;;) {
    if (const size_t end = read_.find('\n'); end != read_.npos) {
      Line line{.text = read_.substr(0, end)};
      read_.erase(0, end + 1);
      return line;
    }
    if (ended_) {
      Line line{.end = read_.empty() ? LineEnd::kEnd : LineEnd::kLine};
      line.text.swap(read_);
      return line;
    }
    if (!await_input()) {
      return {.end = LineEnd::kInterrupted};
    }
    char buffer[4096];
    const ssize_t count = read(descriptor_, buffer, sizeof(buffer));
    if (count > 0) {
      read_.append(buffer, static_cast<size_t>(count));
    } else if (count == 0) {
      ended_ = true;
    } else if (errno != EINTR) {
      throw Error(
          ErrorCode::kIo,
          std::string("standard input: expected to read, got: ") +
              std::strerror(errno));
    }
  }
}

ChatInput read_chat_input(const std::function<Line(bool goes_on)>& next_line) {
  Line line = next_line(false);
  if (line.end != LineEnd::kLine) {
    return {.end = line.end};
  }
  if (line.text.starts_with(kQuotes)) {
    return read_block(line.text.substr(kQuotes.size()), next_line);
  }
  if (line.text.starts_with('/') && !line.text.starts_with("//")) {
    return {.text = line.text, .command = true};
  }
  ChatInput input{
      .text = line.text.substr(line.text.starts_with("//") ? 1 : 0)};
  while (input.text.ends_with('\\')) {
    line = next_line(true);
    if (line.end == LineEnd::kInterrupted) {
      return {.end = line.end};
    }
    input.text.back() = '\n';
    input.text += line.text;
    if (line.end == LineEnd::kEnd) {
      break;
    }
  }
  return input;
}

} // namespace holdfast::app
