// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// For tests of programs over a folder of kept state. One thread.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "holdfast/env/posix_file_system.h"
#include "holdfast/tier/disk_tier.h"
#include "tests/apps/json_lines.h"
#include "tests/apps/program.h"

namespace holdfast::test {

using Json = nlohmann::json;

/// A folder that is gone at the end, and programs over it.
class Folder {
 public:
  explicit Folder(const std::string& name) : path_(scratch(name)) {}
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::string& path() const {
    return path_;
  }
  Outcome state(std::vector<std::string> words) const {
    words.insert(words.begin(), "state");
    words.insert(words.end(), {"--state", path_});
    return run(words);
  }
  std::vector<Json> json(std::vector<std::string> words) const {
    words.push_back("--json");
    const Outcome outcome = state(std::move(words));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return objects(outcome.out);
  }
  static std::vector<Json> objects(const std::string& text) {
    return json_lines(text);
  }
  /// Runs generate; its result.
  Json generate(const std::string& prompt, int tokens = 4) const {
    const Outcome outcome = run(with_model(
        {"generate"},
        {"-p",
         prompt,
         "-n",
         std::to_string(tokens),
         "--temp",
         "0",
         "--ignore-eos",
         "--json",
         "--state",
         path_}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return objects(outcome.out).at(0);
  }

 private:
  const std::string path_;
};

/// Changes a byte of the body of a record of a state folder that has it in its
/// only segment that long.
inline void damage_body(const std::string& folder, const RecordName& name) {
  const auto files = posix_file_system();
  const std::string path = folder + "/tier";
  const Extent body =
      DiskTier::open({.folder = path, .files = files, .clock = system_clock()})
          .value()
          ->record(name)
          .value()
          .body;
  int damaged = 0;
  const auto names = files->list(path);
  for (const std::string& each : names.value()) {
    if (!each.ends_with(".segment")) {
      continue;
    }
    const auto file =
        files->open(path + "/" + each, FileSystem::Access::kReadWrite).value();
    std::vector<std::byte> bytes(static_cast<size_t>(body.bytes.get()));
    if (!file->read(body.offset, bytes).ok() ||
        static_cast<char>(bytes[0]) != 'H') { // of "HoFbody"
      continue;
    }
    bytes[0] ^= std::byte{1};
    file->write(body.offset, bytes).check();
    ++damaged;
  }
  ASSERT_EQ(damaged, 1);
}

inline const std::string kLong =
    "hello the hello the hello the hello the hello the hello the hello the";

} // namespace holdfast::test
