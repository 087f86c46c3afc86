// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "console.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "holdfast/base/status.h"

namespace holdfast::app {

void write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      throw Error(
          ErrorCode::kIo,
          std::string("standard output: expected to write, got: ") +
              std::strerror(errno));
    }
  }
}

void complain(std::string_view text) {
  std::string line = "holdfast: ";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  std::fprintf(stderr, "%s\n", line.c_str());
}

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::update(int64_t done, int64_t total) {
  const int64_t percent = total > 0 ? 100 * done / total : 100;
  if (terminal_ && percent != percent_) {
    std::fprintf(
        stderr, "\r%s %lld %%", what_.c_str(), static_cast<long long>(percent));
    percent_ = percent;
  }
}

void ProgressLine::clear() {
  if (percent_ >= 0) {
    std::fputs("\r\033[K", stderr);
    percent_ = -1;
  }
}

} // namespace holdfast::app
