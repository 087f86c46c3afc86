// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Starts the command line as a user would and collects what it says. One
// thread.

#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/engine/tiny_model.h"

namespace holdfast::test {

struct Outcome {
  int code = -1; // -signal where one ended it
  std::string out;
  std::string err;

  bool one_line_of_error() const {
    return err.starts_with("holdfast: ") && err.find('\n') == err.size() - 1;
  }
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A path of this process alone.
inline std::string scratch(const std::string& name) {
  return (std::filesystem::temp_directory_path() /
          ("holdfast_" + std::to_string(getpid()) + "_" + name))
      .string();
}

/// The data folder of the programs that a test starts; their home is there as
/// well, so that none writes into the user's.
class DataFolder {
 public:
  static const std::string& path() {
    static const DataFolder folder;
    return folder.path_;
  }

 private:
  DataFolder() : path_(scratch("data")) {
    setenv("XDG_DATA_HOME", path_.c_str(), 1);
    setenv("HOME", (path_ + "/home").c_str(), 1);
  }
  ~DataFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  const std::string path_;
};

class Program {
 public:
  /// Starts it. stdout goes to `out_path`, or to a file of ours where empty; or
  /// to the descriptor `out`, where there is one.
  explicit Program(
      const std::vector<std::string>& arguments,
      const std::string& input = "",
      const std::string& out_path = "",
      int out = -1)
      : in_(scratch("in")),
        out_(out_path.empty() ? scratch("out") : out_path),
        err_(scratch("err")) {
    DataFolder::path();
    std::ofstream(in_, std::ios::binary) << input;
    std::vector<char*> argv;
    std::string binary = HOLDFAST_BINARY;
    argv.push_back(binary.data());
    std::vector<std::string> copies = arguments;
    for (std::string& argument : copies) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    const int made = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&files, 0, in_.c_str(), O_RDONLY, 0);
    if (out >= 0) {
      posix_spawn_file_actions_adddup2(&files, out, 1);
    } else {
      posix_spawn_file_actions_addopen(&files, 1, out_.c_str(), made, 0600);
    }
    posix_spawn_file_actions_addopen(&files, 2, err_.c_str(), made, 0600);
    const int failed = posix_spawn(
        &pid_, binary.c_str(), &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) {
      throw std::runtime_error("cannot start " + binary);
    }
  }

  pid_t pid() const {
    return pid_;
  }
  const std::string& out_path() const {
    return out_;
  }

  Outcome wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    Outcome outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (std::filesystem::is_regular_file(out_)) {
      outcome.out = read_file(out_);
      std::filesystem::remove(out_);
    }
    outcome.err = read_file(err_);
    std::filesystem::remove(in_);
    std::filesystem::remove(err_);
    return outcome;
  }

 private:
  const std::string in_, out_, err_;
  pid_t pid_ = -1;
};

inline Outcome
run(const std::vector<std::string>& arguments, const std::string& input = "") {
  return Program(arguments, input).wait();
}

/// The tiny model's file, for the life of the test program.
inline const std::string& model_path() {
  static const TemporaryFile file(
      "holdfast_" + std::to_string(getpid()) + "_tiny.gguf",
      TinyModel().bytes());
  static const std::string path = file.path();
  return path;
}

/// `command -m <tiny model> --threads 1`, then the rest. It keeps no state
/// unless it is told where.
inline std::vector<std::string> with_model(
    std::vector<std::string> command,
    const std::vector<std::string>& rest) {
  command.insert(command.end(), {"-m", model_path(), "--threads", "1"});
  if (command.front() == "generate" &&
      std::ranges::find(rest, "--state") == rest.end()) {
    command.insert(command.end(), {"--state", "none"});
  }
  command.insert(command.end(), rest.begin(), rest.end());
  return command;
}

} // namespace holdfast::test
