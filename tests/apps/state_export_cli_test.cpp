// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state export` and `import`: a text goes to another folder and is
// gone on from there.

#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "holdfast/env/cpu.h"
#include "tests/apps/program.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;

/// Folders and a file that are gone at the end.
struct Places {
  std::string here = scratch("here");
  std::string there = scratch("there");
  std::string file = scratch("talk.holdfast");

  ~Places() {
    std::error_code error;
    fs::remove_all(here, error);
    fs::remove_all(there, error);
    fs::remove(file, error);
  }
  static Json generate(
      const std::string& folder,
      const std::string& prompt,
      const std::vector<std::string>& more = {}) {
    std::vector<std::string> rest{
        "-p",
        prompt,
        "-n",
        "6",
        "--temp",
        "0",
        "--ignore-eos",
        "--json",
        "--state",
        folder};
    rest.insert(rest.end(), more.begin(), more.end());
    const Outcome outcome = run(with_model({"generate"}, rest));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out);
  }
  Outcome export_first(const std::vector<std::string>& more = {}) const {
    const Outcome listed = run({"state", "ls", "--json", "--state", here});
    const std::string first = listed.out.substr(0, listed.out.find('\n'));
    const auto name = Json::parse(first).at("name").get<std::string>();
    std::vector<std::string> words{
        "state", "export", name, file, "--state", here};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  Outcome import(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> rest{"--state", there, "--json"};
    rest.insert(rest.end(), more.begin(), more.end());
    return run(with_model({"state", "import", file}, rest));
  }
};

const std::string kPrompt =
    "hello the hello the hello the hello the hello the hello the hello the";

TEST(ExportCommand, ATextGoesOnInAnotherFolderWithTheSameIds) {
  for (const bool packed : {false, true}) {
    const Places places;
    const Json first = Places::generate(places.here, kPrompt);
    const std::string longer =
        kPrompt + first["text"].get<std::string>() + " a";
    const Json want = Places::generate(places.here, longer);
    // The longer text took the place of the first.
    const Outcome exported = places.export_first(
        packed ? std::vector<std::string>{"--zstd", "3", "--json"}
               : std::vector<std::string>{"--json"});
    ASSERT_EQ(exported.code, 0) << exported.err;
    const Json told = Json::parse(exported.out);
    EXPECT_EQ(told["file_bytes"].get<uint64_t>(), fs::file_size(places.file));
    const Outcome imported = places.import();
    ASSERT_EQ(imported.code, 0) << imported.err;
    EXPECT_EQ(Json::parse(imported.out)["tokens"], told["tokens"]);
    EXPECT_TRUE(Json::parse(imported.out)["foreign"].is_null());
    const Json got = Places::generate(places.there, longer);
    EXPECT_EQ(got["ids"], want["ids"]);
    EXPECT_EQ(got["text"], want["text"]);
    EXPECT_EQ(
        got["reused_tokens"].get<int64_t>(),
        got["prompt_tokens"].get<int64_t>() - 1);
    EXPECT_EQ(got["reused_from_disk"], got["reused_tokens"]);
  }
}

TEST(ExportCommand, RefusesWhatItWouldOverwriteAndNamesWhatIsMissing) {
  const Places places;
  Places::generate(places.here, kPrompt);
  ASSERT_EQ(places.export_first().code, 0);
  const Outcome again = places.export_first();
  EXPECT_EQ(again.code, 2);
  EXPECT_TRUE(again.one_line_of_error());
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(places.export_first({"--force"}).code, 0);
  EXPECT_EQ(places.export_first({"--force", "--zstd", "20"}).code, 2);
  EXPECT_EQ(
      run({"state", "export", "zz", places.file, "--state", places.here}).code,
      2);
}

TEST(ImportCommand, RefusesOtherStateNamingTheFieldAndATakenName) {
  const Places places;
  Places::generate(places.here, kPrompt);
  ASSERT_EQ(places.export_first().code, 0);
  const Outcome other = places.import({"--kv", "q8"});
  EXPECT_EQ(other.code, 2); // after the line that announces the folder
  EXPECT_THAT(other.err, HasSubstr("storage"));
  EXPECT_EQ(places.import({"--name", "chat/talk"}).code, 0);
  const Outcome taken = places.import({"--name", "chat/talk"});
  EXPECT_EQ(taken.code, 2);
  EXPECT_THAT(taken.err, HasSubstr("chat/talk"));
  EXPECT_EQ(places.import({"--name", "chat/talk", "--replace"}).code, 0);
}

TEST(ImportCommand, KeepsAnotherKernelPathApartWhereThatIsAsked) {
  if (best_kernel_path() == KernelPath::kPlain) {
    GTEST_SKIP() << "one kernel path alone on this processor";
  }
  const Places places;
  const auto plain = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--kernels", "plain"});
    return more;
  };
  const Json want = Places::generate(places.here, kPrompt, plain({}));
  ASSERT_EQ(places.export_first().code, 0);
  const Outcome refused = places.import();
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("kernels"));
  const Outcome taken =
      places.import({"--foreign-bits", "--name", "chat/talk"});
  ASSERT_EQ(taken.code, 0) << taken.err;
  EXPECT_EQ(
      Json::parse(taken.out)["foreign"]["origin"].get<std::string>().size(),
      64u);
  const Json ours = Places::generate(places.there, kPrompt);
  EXPECT_EQ(ours["reused_tokens"], 0); // never mixed
  const Json theirs =
      Places::generate(places.there, kPrompt, {"--foreign-bits", "chat/talk"});
  EXPECT_GT(theirs["reused_tokens"].get<int64_t>(), 0);
  EXPECT_EQ(theirs["ids"], want["ids"]); // all paths give the same bits
}

TEST(ImportCommand, ADamagedFileEndsInOneLine) {
  const Places places;
  Places::generate(places.here, kPrompt);
  ASSERT_EQ(places.export_first().code, 0);
  fs::resize_file(places.file, fs::file_size(places.file) - 1);
  const Outcome cut = places.import();
  EXPECT_EQ(cut.code, 1);
  EXPECT_TRUE(cut.one_line_of_error()) << cut.err;
  std::ofstream(places.file) << "no file of ours";
  const Outcome other = places.import({"--foreign-bits", "-p", "hello"});
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(other.one_line_of_error()) << other.err;
}

} // namespace
} // namespace holdfast::test
