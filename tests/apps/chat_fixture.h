// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// For tests of chats: programs over a folder that is gone at the end. One
// thread.

#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/apps/json_lines.h"
#include "tests/apps/talk.h"

namespace holdfast::test {

using Json = nlohmann::json;

class Chat : public testing::Test {
 protected:
  ~Chat() override {
    std::filesystem::remove_all(folder_);
  }

  std::vector<std::string> arguments(
      const std::vector<std::string>& rest,
      const std::string& folder) const {
    std::vector<std::string> all = {
        "chat",
        "-m",
        model_path(),
        "--threads",
        "1",
        "--ignore-eos",
        "--state",
        folder};
    if (std::ranges::find(rest, "-n") == rest.end()) {
      all.insert(all.end(), {"-n", "6"});
    }
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
  /// The state of what is kept, as a verb of `holdfast state` says it.
  Json state(std::vector<std::string> words) const {
    words.insert(words.begin(), "state");
    words.insert(words.end(), {"--state", folder_, "--json"});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json(json_lines(outcome.out));
  }
  std::vector<std::string> kept(const std::vector<std::string>& rest) const {
    return arguments(rest, folder_);
  }

  /// The objects that a chat says to these lines.
  static std::vector<Json>
  objects(std::vector<std::string> arguments, const std::string& input) {
    arguments.emplace_back("--json");
    const Outcome outcome = run(arguments, input);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json_lines(outcome.out);
  }

  const std::string folder_ = scratch("chat");
};

} // namespace holdfast::test
