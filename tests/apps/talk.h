// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The command line as a partner in a conversation: lines go in while it runs,
// what it says is read as it comes. One thread.

#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tests/apps/program.h"

namespace holdfast::test {

class Talk {
 public:
  enum class Input { kPipe, kTerminal };

  explicit Talk(
      const std::vector<std::string>& arguments,
      Input input = Input::kPipe)
      : err_(scratch("talk_err")) {
    int in[2] = {-1, -1}; // what the program reads, what we write
    int out[2] = {-1, -1};
    const bool made = pipe2(out, O_CLOEXEC) == 0 &&
        (input == Input::kPipe
             ? pipe2(in, O_CLOEXEC) == 0
             : openpty(&in[1], &in[0], nullptr, nullptr, nullptr) == 0);
    if (!made) {
      throw std::runtime_error("cannot make pipes");
    }
    // Everything is allocated before the fork.
    std::string binary = HOLDFAST_BINARY;
    std::vector<std::string> copies = arguments;
    std::vector<char*> argv{binary.data()};
    for (std::string& argument : copies) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      setsid();
      if (input == Input::kTerminal) {
        ioctl(in[0], TIOCSCTTY, 0);
      }
      dup2(in[0], 0);
      dup2(out[1], 1);
      dup2(open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
    fcntl(in_, F_SETFD, FD_CLOEXEC);
  }
  ~Talk() {
    if (pid_ > 0) {
      kill_hard();
    }
    if (in_ >= 0) {
      close(in_);
    }
    close(out_);
    std::filesystem::remove(err_);
  }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  void say(const std::string& line) {
    const std::string text = line + "\n";
    if (write(in_, text.data(), text.size()) !=
        static_cast<ssize_t>(text.size())) {
      throw std::runtime_error("cannot write to the program");
    }
  }
  /// A key such as Ctrl-C (3) or Ctrl-D (4), where it reads a terminal.
  void key(char code) {
    if (write(in_, &code, 1) != 1) {
      throw std::runtime_error("cannot write to the program");
    }
  }
  void end_input() {
    close(in_);
    in_ = -1;
  }

  /// What it says up to the next line's end; empty where it ended before.
  std::string line() {
    for (;;) {
      if (const size_t end = said_.find('\n'); end != said_.npos) {
        std::string line = said_.substr(0, end);
        said_.erase(0, end + 1);
        return line;
      }
      if (!more()) {
        return "";
      }
    }
  }
  /// Waits until it said anything of the next line.
  void wait_for_text() {
    while (said_.empty() && more()) {
    }
  }
  /// Waits until standard error holds this text.
  bool complains_of(const std::string& text) {
    for (int i = 0; i < 600; ++i) {
      if (errors().find(text) != std::string::npos) {
        return true;
      }
      usleep(50'000);
    }
    return false;
  }
  std::string errors() const {
    return read_file(err_);
  }

  void kill_hard() {
    kill(pid_, SIGKILL);
    wait();
  }
  void send(int signal) {
    kill(pid_, signal);
  }
  /// Its exit code; -signal where one ended it.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  bool more() {
    pollfd ready{.fd = out_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 60'000) != 1) {
      return false;
    }
    char buffer[4096];
    const ssize_t count = read(out_, buffer, sizeof(buffer));
    said_.append(buffer, static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return count > 0;
  }

  const std::string err_;
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  std::string said_;
};

} // namespace holdfast::test
