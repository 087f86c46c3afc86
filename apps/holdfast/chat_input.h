// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Messages from lines: a line is one, unless it ends in a backslash (the next
// line goes on) or begins a block with """ (up to a line that ends with """).
// Any source of lines. One thread.

#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

namespace holdfast::app {

/// How a read ended without a line.
enum class LineEnd { kLine, kEnd, kInterrupted };

struct Line {
  LineEnd end = LineEnd::kLine;
  std::string text = {}; // without its end
};

/// Lines of a descriptor as they come. `interrupted`, where it becomes true,
/// ends the wait; whoever set it clears it. Throws Error (kIo).
class LineReader {
 public:
  LineReader(int descriptor, const std::atomic<bool>& interrupted)
      : descriptor_(descriptor), interrupted_(interrupted) {}
  Line next();

 private:
  /// False where it was interrupted.
  bool await_input() const;

  const int descriptor_;
  const std::atomic<bool>& interrupted_;
  std::string read_; // behind the last line
  bool ended_ = false;
};

struct ChatInput {
  LineEnd end = LineEnd::kLine;
  std::string text = {};
  bool command = false; // a single line that begins with "/"
};

/// The next message or command. next_line: told whether the line goes on with
/// a message. "//" at the start of a message stands for "/".
ChatInput read_chat_input(const std::function<Line(bool goes_on)>& next_line);

} // namespace holdfast::app
