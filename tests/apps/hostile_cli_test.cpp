// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <csignal>
#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include "apps/holdfast/file_guard.h"
#include "holdfast/env/mapped_file.h"
#include "tests/apps/program.h"

namespace holdfast::test {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

std::string own(const std::string& name) {
  return std::string("holdfast_").append(std::to_string(getpid())).append(name);
}

TEST(FileGuardDeathTest, EndsWithALineThatNamesAFileCutShort) {
  const TemporaryFile file(own("short.gguf"), std::string(1 << 16, 'x'));
  EXPECT_EXIT(
      {
        const MappedFile mapped = MappedFile::open(file.path()).value();
        const app::FileGuard guard(file.path());
        std::filesystem::resize_file(file.path(), 0);
        const volatile std::byte* at = mapped.bytes().data();
        exit(static_cast<int>(at[1 << 15]));
      },
      testing::ExitedWithCode(1),
      "^holdfast: .*short\\.gguf: expected a file that stays .*\n$");
}

TEST(FileGuardDeathTest, LeavesOtherBusErrorsAsTheyWere) {
  EXPECT_EXIT(
      {
        { const app::FileGuard guard("a file"); }
        raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS),
      "^$");
}

TEST(HostileFiles, PipesAndDevicesAreRefusedWithoutWaiting) {
  const std::string pipe = scratch("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/zero")}) {
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{
             {"inspect", path},
             {"tokenize", "-m", path, "-p", "a"},
             {"generate", "-m", path, "-p", "a"},
             {"generate",
              "-m",
              model_path(),
              "-p",
              "a",
              "--kv-config",
              path}}) {
      const Outcome outcome = run(command);
      EXPECT_EQ(outcome.code, 2) << outcome.err;
      EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr(path + ": expected a regular file"));
    }
  }
  std::filesystem::remove(pipe);
}

TEST(HostileFiles, APromptMayComeThroughAPipe) {
  const std::string path = scratch("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  Program program({"tokenize", "-m", model_path(), "-f", path});
  const int writer = open(path.c_str(), O_WRONLY); // waits for the reader
  ASSERT_EQ(write(writer, "hello", 5), 5);
  close(writer);
  const Outcome outcome = program.wait();
  std::filesystem::remove(path);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(
      outcome.out, run({"tokenize", "-m", model_path(), "-p", "hello"}).out);
}

TEST(HostileFiles, NamesAndTextsReachATerminalAsPrintableUtf8) {
  TinyModel model;
  std::string& keys = model.image.keys[1]; // general.name
  const size_t at = keys.rfind("tiny");
  ASSERT_NE(at, std::string::npos);
  keys.replace(at, 4, "\xff\xc2\x9b!");
  const TemporaryFile file(own("name.gguf"), model.bytes());
  const Outcome outcome = run({"inspect", file.path()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("name        \xEF\xBF\xBD?!\n"));
}

TEST(HostileFiles, ARefusedKvConfigIsNamed) {
  const TemporaryFile file(own("kv.json"), R"({"default": "q8\u0000x"})");
  const Outcome outcome = run(
      {"generate", "-m", model_path(), "-p", "a", "--kv-config", file.path()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
  EXPECT_THAT(
      outcome.err,
      AllOf(
          HasSubstr("holdfast: " + file.path() + ": "),
          HasSubstr(R"(got "q8\x00x")")));
}

TEST(KvConfigOption, IsReportedAsThePrecisionUsed) {
  const TemporaryFile config(own("kv.json"), R"({"default": "q8"})");
  const std::vector<std::string> rest = {
      "--kv-config", config.path(), "--kv", "q4"};
  auto arguments = with_model({"generate", "-p", "a", "-n", "2"}, rest);
  EXPECT_THAT(
      run(arguments).err,
      HasSubstr(std::string("(").append(config.path()).append(")")));
  arguments.push_back("--json");
  EXPECT_EQ(Json::parse(run(arguments).out)["kv"], config.path());
  arguments =
      with_model({"bench", "model", "--prompt", "2", "--gen", "2"}, rest);
  EXPECT_THAT(run(arguments).out, HasSubstr("state " + config.path() + "\n"));
  arguments.push_back("--json");
  EXPECT_EQ(Json::parse(run(arguments).out)["kv"], config.path());
}

TEST(CommandLine, SaysWhatAnOptionMayBe) {
  const std::string m = model_path();
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"generate", "-m", m, "-p", "a", "--seed", "-1"},
       "--seed: expected a whole number from 0 to 18446744073709551615, got "
       "\"-1\""},
      {{"generate", "-m", m, "-p", "a", "-n", "x"},
       "--max-tokens: expected a whole number"},
      {{"generate", "-m", m, "-p", "a", "--kernels", ""},
       "--kernels: expected a value, got an empty one"},
      {{"generate", "-m", m, "-f", ""}, "--file: expected a value"},
      {{"generate", "-m", m, "-p", "a", "--kv-config="},
       "--kv-config: expected a value"},
      {{"bench", "model", "-m", m, "--batch", "1000000000"},
       "--batch: expected 1 to 4096, got 1000000000"}};
  for (const auto& [arguments, wanted] : cases) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << wanted;
    EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(wanted));
  }
}

TEST(CommandLine, TakesAnEmptyPromptInEitherForm) {
  const Outcome apart = run({"tokenize", "-m", model_path(), "-p", ""});
  const Outcome joined = run({"tokenize", "-m", model_path(), "--prompt="});
  EXPECT_EQ(joined.code, 0) << joined.err;
  EXPECT_EQ(joined.out, apart.out);
}

TEST(StandardOutput, WaitsForASlowReaderWhereItDoesNotBlock) {
  // The program inherits a pipe that is full at once and does not block.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  const std::string filler(4096, '-');
  size_t filled = 0;
  for (ssize_t got = 0; got >= 0;) {
    filled += static_cast<size_t>(got);
    got = write(ends[1], filler.data(), filler.size());
  }
  Program program({"inspect", model_path(), "--tensors"}, "", "", ends[1]);
  close(ends[1]);
  std::string all;
  char part[4096];
  for (ssize_t got = 1; got > 0; all.append(part, static_cast<size_t>(got))) {
    got = read(ends[0], part, sizeof part);
    ASSERT_GE(got, 0);
  }
  close(ends[0]);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(
      all.substr(filled), run({"inspect", model_path(), "--tensors"}).out);
}

std::vector<Json> lines(const std::string& out) {
  std::vector<Json> result;
  std::istringstream text(out);
  for (std::string line; std::getline(text, line);) {
    result.push_back(Json::parse(line));
  }
  return result;
}

TEST(GenerateCommand, PrintsWhatIsFinishedWhereTheStateBudgetEnds) {
  auto arguments = with_model(
      {"generate"},
      {"-p", "a", "-p", "b", "--json", "--ignore-eos", "--temp", "0"});
  auto one = arguments;
  one.insert(one.end(), {"-n", "1"});
  const auto bytes = lines(run(one).out).at(0)["state_bytes"].get<int64_t>();
  arguments.insert(
      arguments.end(),
      {"-n", "200", "--max-state-bytes", std::to_string(bytes)});
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
  const auto results = lines(outcome.out);
  ASSERT_EQ(results.size(), 2u);
  for (const Json& result : results) {
    EXPECT_EQ(result["finish_reason"], "failed");
    EXPECT_GT(result["generated_tokens"], 1);
  }
}

} // namespace
} // namespace holdfast::test
