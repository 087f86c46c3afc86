// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Prompt caches that mlx-lm made of the tiny gemma3
// (tests/oracle/gemma3_caches.py), through the program: what is imported is not
// computed again, and the text is that of a run without it.

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/base/sha256.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/formats/mlx_cache.h"
#include "tests/apps/kept_folder.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

constexpr const char* kRest = " the hello the";
constexpr double kBound = 0.04; // docs/numerics.md

/// A file of tests/data/caches/gemma3, and what it says of itself.
struct Cache {
  explicit Cache(const std::string& name)
      : path(std::string(HOLDFAST_TEST_DATA "/caches/gemma3/") + name) {
    const auto file = SafetensorsFile::open(*posix_file_system(), path).value();
    const MlxCache cache = read_mlx_cache(*file).value();
    text = cache.metadata.at("text");
    model = cache.metadata.at("model");
    length = cache.layers.front().offset.get();
  }
  std::string path;
  std::string text;
  std::string model; // SHA-256 of its file
  int64_t length = 0;
};

class MlxCacheImport : public testing::TestWithParam<const char*> {
 protected:
  /// Of the whole text and a little more.
  Json generate(const Cache& cache, std::vector<std::string> more) const {
    std::vector<std::string> rest{
        "-p",
        cache.text + kRest,
        "-n",
        "12",
        "--temp",
        "0",
        "--ignore-eos",
        "--kv",
        "f32",
        "--logprobs",
        "1",
        "--json"};
    rest.insert(rest.end(), more.begin(), more.end());
    const Outcome outcome = run(with_model({"generate"}, rest));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json_lines(outcome.out).at(0);
  }
  Outcome import(const Cache& cache, std::vector<std::string> more) const {
    std::vector<std::string> rest{
        cache.path, "--state", folder_.path(), "--kv", "f32", "--name", "m"};
    rest.insert(rest.end(), more.begin(), more.end());
    return run(with_model({"state", "import"}, rest));
  }

  const Folder folder_{"mlx_import"};
};

// A model that changed needs other caches: its file is left for the script.
TEST_P(MlxCacheImport, IsOfTheModelThatIsTestedHere) {
  const std::string bytes = TinyModel().bytes();
  if (Cache(GetParam()).model != sha256(bytes).hex()) {
    const std::string path =
        (std::filesystem::temp_directory_path() / "holdfast_tiny.gguf")
            .string();
    std::ofstream(path, std::ios::binary) << bytes;
    FAIL() << "run tests/oracle/gemma3_caches.py --model " << path
           << " --write tests/data/caches/gemma3";
  }
}

TEST_P(MlxCacheImport, IsGoneOnFromAndGivesTheTextOfAColdRun) {
  const Cache cache(GetParam());
  const Json cold = generate(cache, {});
  const Outcome imported =
      import(cache, {"--foreign-bits", "-p", cache.text, "--json"});
  ASSERT_EQ(imported.code, 0) << imported.err;
  const Json summary = json_lines(imported.out).at(0);
  EXPECT_EQ(summary["tokens"], cache.length);
  EXPECT_GT(summary["written_bytes"], 0);
  ASSERT_GT(cache.length, 64 + 16) << "a block, and more than a window";
  const std::vector<std::string> from{
      "--state", folder_.path(), "--foreign-bits", "chat/m"};
  for (int time = 0; time < 2; ++time) {
    const Json warm = generate(cache, from);
    EXPECT_EQ(warm["prompt_ids"], cold["prompt_ids"]);
    EXPECT_GE(warm["reused_from_disk"], cache.length) << warm["reuse"];
    EXPECT_EQ(warm["text"], cold["text"]);
    EXPECT_EQ(warm["ids"], cold["ids"]);
    for (size_t i = 0; i < 12; ++i) {
      const double of_warm = warm["logprobs"][i]["logprob"];
      const double of_cold = cold["logprobs"][i]["logprob"];
      EXPECT_LT(std::abs(of_warm - of_cold), kBound) << i;
    }
  }
  // Apart from what is computed here.
  const Json own = generate(cache, {"--state", folder_.path()});
  EXPECT_EQ(own["reused_tokens"], 0);
  EXPECT_EQ(own["logprobs"], cold["logprobs"]);
}

TEST_P(MlxCacheImport, RefusesWhatItCannotBeByName) {
  const Cache cache(GetParam());
  const auto refusal = [&](std::vector<std::string> more) {
    const Outcome refused = import(cache, std::move(more));
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "");
    return refused.err;
  };
  EXPECT_THAT(
      refusal({"-p", cache.text}), HasSubstr("expected --foreign-bits"));
  const std::string length = std::to_string(cache.length);
  EXPECT_THAT(
      refusal({"--foreign-bits", "-p", cache.text + " the"}),
      HasSubstr("the " + length + " tokens that the cache holds"));
  EXPECT_TRUE(folder_.json({"ls"}).empty());
}

// Leading blocks alone would be no state of a text with windows.
TEST(MlxCacheRoom, WithoutItNothingIsImportedRatherThanAPart) {
  const Cache cache("state.safetensors");
  const Folder folder("mlx_import_room");
  const Outcome refused = run(with_model(
      {"state", "import"},
      {cache.path,
       "--name",
       "m",
       "--kv",
       "f32",
       "--foreign-bits",
       "-p",
       cache.text,
       "--state",
       folder.path(),
       "--max-cache-bytes",
       "10000"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--max-cache-bytes: expected at least"));
  EXPECT_TRUE(folder.json({"ls"}).empty());
}

TEST(MlxCacheName, InTheSpaceOfChatsIsNoChatToGoOnWith) {
  const Cache cache("state.safetensors");
  const Folder folder("mlx_import_chat");
  const std::vector<std::string> at{"--state", folder.path(), "--kv", "f32"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), at.begin(), at.end());
    return words;
  };
  const auto chat = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--json", "-n", "2"});
    return run(with_model({"chat"}, with(std::move(words))), "hello\n");
  };
  EXPECT_EQ(chat({"--name", "mine"}).code, 0);
  const Outcome imported = run(with_model(
      {"state", "import"},
      with({cache.path, "--name", "m", "--foreign-bits", "-p", cache.text})));
  ASSERT_EQ(imported.code, 0) << imported.err;
  const Outcome rest = chat({"--continue"});
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("chat mine, 1 turns"));
}

// The state of a shorter text is there only as far as the windows' is.
TEST(MlxCacheLength, WhoseWindowsBeginWasLostIsNotOfferedToAShorterText) {
  const Cache cache("state.safetensors");
  const Folder folder("mlx_import_short");
  const std::vector<std::string> at{"--state", folder.path(), "--kv", "f32"};
  std::vector<std::string> words{
      cache.path, "--name", "m", "--foreign-bits", "-p", cache.text, "--json"};
  words.insert(words.end(), at.begin(), at.end());
  const Outcome imported = run(with_model({"state", "import"}, words));
  ASSERT_EQ(imported.code, 0) << imported.err;
  const int64_t least = json_lines(imported.out).at(0)["foreign"]["least"];
  EXPECT_GT(least, cache.length - 16);
  const std::string shorter = cache.text.substr(0, cache.text.size() / 2);
  std::vector<std::string> generate{
      "-p", shorter, "-n", "2", "--json", "--foreign-bits", "chat/m"};
  generate.insert(generate.end(), at.begin(), at.end());
  const Outcome outcome = run(with_model({"generate"}, generate));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json_lines(outcome.out).at(0)["reused_tokens"], 0);
}

INSTANTIATE_TEST_SUITE_P(
    OfBothLayouts,
    MlxCacheImport,
    testing::Values("state.safetensors", "before.safetensors"),
    [](const auto& info) {
      const std::string name = info.param;
      return name.substr(0, name.find('.'));
    });

} // namespace
} // namespace holdfast::test
