// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "console.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <poll.h>
#include <unistd.h>

#include "holdfast/base/status.h"
#include "holdfast/formats/utf8.h"

namespace holdfast::app {

void write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd reader{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
      poll(&reader, 1, -1);
    } else if (errno != EINTR) {
      throw Error(
          ErrorCode::kIo,
          std::string("standard output: expected to write, got: ") +
              std::strerror(errno));
    }
  }
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Utf8Step step = utf8_step(text);
    const auto first = static_cast<unsigned char>(text[0]);
    // U+0080 to U+009F are control characters too.
    const bool control = first < 0x20 || first == 0x7f ||
        (first == 0xc2 && step.length == 2 &&
         static_cast<unsigned char>(text[1]) < 0xa0);
    const auto length = static_cast<size_t>(step.length);
    if (step.state != Utf8State::kValid) {
      shown += kReplacementCharacter;
    } else {
      shown += control ? "?" : text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return shown;
}

void complain(std::string_view text) {
  std::fprintf(stderr, "holdfast: %s\n", printable(text).c_str());
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
