// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "bench_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors.h"
#include "options.h"

namespace holdfast::app {

namespace {

constexpr int kLook = 100; // ms between looks at the flag

[[noreturn]] void fail(const char* what) {
  throw Error(
      ErrorCode::kIo,
      std::string("cannot ") + what + ": " + std::strerror(errno));
}

Json answer_of(const std::function<Json()>& work) {
  const auto failure = [](const char* kind, const char* text) {
    return Json{{"kind", kind}, {"text", text}};
  };
  try {
    return Json{{"kind", "done"}, {"value", work()}};
  } catch (const Interrupted&) {
    return failure("interrupted", "");
  } catch (const UserError& error) {
    return failure("misused", error.what());
  } catch (const std::exception& error) {
    return failure("failed", error.what());
  }
}

/// In the new process.
[[noreturn]] void answer(int pipe, const std::function<Json()>& work) {
  const std::string text = json_line(answer_of(work));
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t put =
        ::write(pipe, text.data() + written, text.size() - written);
    if (put < 0 && errno != EINTR) {
      break; // nobody listens
    }
    written += static_cast<size_t>(std::max<ssize_t>(put, 0));
  }
  ::_exit(kOk);
}

/// All that the process says. Passes a signal on, once.
std::string listen(int pipe, pid_t process, const InterruptFlag& interrupt) {
  std::string text;
  char part[4096];
  bool told = false;
  for (;;) {
    if (interrupt.raised() && !told) {
      ::kill(process, SIGTERM);
      told = true;
    }
    pollfd ready{.fd = pipe, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kLook) <= 0) {
      continue;
    }
    const ssize_t got = ::read(pipe, part, sizeof part);
    if (got == 0) {
      return text;
    }
    if (got > 0) {
      text.append(part, static_cast<size_t>(got));
    } else if (errno != EINTR) {
      fail("read what a process measured");
    }
  }
}

} // namespace

void stop_if(const InterruptFlag& interrupt) {
  if (interrupt.raised()) {
    throw Interrupted();
  }
}

Json in_process(
    const InterruptFlag& interrupt,
    const std::function<Json()>& work) {
  stop_if(interrupt);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    fail("make a pipe");
  }
  const pid_t process = ::fork();
  if (process == 0) {
    ::close(ends[0]);
    answer(ends[1], work);
  }
  ::close(ends[1]);
  if (process < 0) {
    ::close(ends[0]);
    fail("start a process");
  }
  const std::string text = listen(ends[0], process, interrupt);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  const Json told = Json::parse(text, nullptr, false);
  if (told.is_discarded()) {
    stop_if(interrupt); // a second signal killed it
    throw Error(
        ErrorCode::kInternal,
        "expected the process that measures to answer, got its end (status " +
            std::to_string(status) + ")");
  }
  if (told["kind"] == "done") {
    return told["value"];
  }
  if (told["kind"] == "interrupted") {
    throw Interrupted();
  }
  if (told["kind"] == "misused") {
    throw UserError(told["text"].get<std::string>());
  }
  throw Error(ErrorCode::kIo, told["text"].get<std::string>());
}

void add_bench_folder(CLI::App& command, std::string& place) {
  not_empty(command.add_option(
                "--folder",
                place,
                "Where to keep the state, on the device to measure (default: "
                "where temporary files are)"))
      ->type_name("DIR");
}

BenchFolder::BenchFolder(const std::string& place)
    : path_(
          (place.empty() ? std::filesystem::temp_directory_path().string()
                         : place) +
          "/holdfast-bench-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw UserError(
        path_ +
        ": expected a folder to write in, got: " + std::strerror(errno));
  }
}

BenchFolder::~BenchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

} // namespace holdfast::app
