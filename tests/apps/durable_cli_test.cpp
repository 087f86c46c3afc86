// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a run of `generate` left is what it promised: whether it was ended by a
// signal, ran out of device, or finds another model under its file's name.

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/kept_folder.h"
#include "tests/env/small_device.h"
#include "tests/env/temp_folder.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kNotSaved = "holdfast: not all state was saved: ";

int64_t count_of(const std::string& text, const std::string& part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

int64_t known_of(const Json& result) {
  return result["prompt_tokens"].get<int64_t>() - 1;
}

// FAULTS B90 (a): a signal outruns a delayed write.
TEST(GenerateDurability, B90_TerminatedRightAfterItsTextItKeptWhatItPromised) {
  const Folder folder("terminated");
  int64_t promised = 0;
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    const std::string prompt = std::to_string(round) + " " + kLong;
    Program program(with_model(
        {"generate"},
        {"-p",
         prompt,
         "-n",
         "10000000",
         "--context",
         "10000000",
         "--ignore-eos",
         "--state",
         folder.path()}));
    while (read_file(program.out_path()).empty()) {
      usleep(1000);
      ASSERT_EQ(kill(program.pid(), 0), 0);
    }
    usleep(static_cast<useconds_t>(round) * 15'000);
    kill(program.pid(), SIGTERM);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.code, 128 + SIGTERM) << outcome.err;
    const Json again = folder.generate(prompt);
    if (outcome.err.find(kNotSaved) == std::string::npos) {
      ++promised;
      EXPECT_EQ(again["reused_tokens"], known_of(again)) << again["reuse"];
      EXPECT_EQ(again["reused_from_disk"], again["reused_tokens"]);
    }
  }
  EXPECT_GT(promised, 0) << "ten seconds are enough for a store";
}

TEST(GenerateDurability, WhereItsOutputHasNoReaderWhatItComputedIsKept) {
  const Folder folder("no_reader");
  const Outcome full = Program(
                           with_model(
                               {"generate"},
                               {"-p",
                                kLong,
                                "-n",
                                "4",
                                "--ignore-eos",
                                "--state",
                                folder.path()}),
                           "",
                           "/dev/full")
                           .wait();
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, HasSubstr("standard output"));
  const Json again = folder.generate(kLong);
  EXPECT_EQ(again["reused_from_disk"], known_of(again)) << again["reuse"];
}

TEST(GenerateDurability, WhereNoMemoryIsLeftForATextThatIsSaid) {
  const Folder folder("no_room");
  const Outcome outcome = run(with_model(
      {"generate"},
      {"-p",
       kLong + kLong + kLong + kLong, // more than a block
       "-n",
       "4",
       "--max-cache-bytes",
       "1000",
       "--state",
       folder.path()}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(kNotSaved));
}

/// The lock that every commit takes, as a process has it that was stopped.
class StoppedProcess {
 public:
  explicit StoppedProcess(const std::string& folder)
      : file_(open((folder + "/tier/lock").c_str(), O_RDWR | O_CLOEXEC)) {
    if (file_ < 0 || flock(file_, LOCK_EX) != 0) {
      throw std::runtime_error("cannot lock " + folder);
    }
  }
  ~StoppedProcess() {
    close(file_);
  }

 private:
  const int file_;
};

TEST(GenerateDurability, AProcessThatWasStoppedInACommitHoldsNoOthersEndUp) {
  const Folder folder("stopped");
  Program program(with_model(
      {"generate"},
      {"-p",
       kLong,
       "-n",
       "10000000",
       "--context",
       "10000000",
       "--ignore-eos",
       "--state",
       folder.path()}));
  while (read_file(program.out_path()).empty()) {
    usleep(1000);
    ASSERT_EQ(kill(program.pid(), 0), 0);
  }
  const StoppedProcess stopped(folder.path());
  kill(program.pid(), SIGTERM);
  const Outcome outcome = program.wait(); // ten seconds
  EXPECT_EQ(outcome.code, 128 + SIGTERM) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(kNotSaved));
}

TEST(GenerateDurability, WhoWaitsForAStoppedProcessIsTold) {
  const Folder folder("told");
  folder.generate(kLong);
  std::optional<StoppedProcess> stopped(folder.path());
  std::thread goes_on([&] {
    usleep(3'000'000);
    stopped.reset();
  });
  const Outcome outcome = folder.state({"ls"});
  goes_on.join();
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("waiting for another process"));
}

// FAULTS B70: a full disk is a warning, not the end of a request.
TEST(GenerateDurability, B70_OnAFullDeviceARequestIsServedAndStoresResume) {
  const TempFolder device;
  model_path(); // made here, not where the device is
  HOLDFAST_ON_SMALL_DEVICE(device.path(), [&] {
    const std::string other_file = device / "other";
    const auto generate = [&](const std::string& prompt) {
      return run(with_model(
          {"generate"},
          {"-p",
           prompt,
           "-n",
           "4",
           "--temp",
           "0",
           "--ignore-eos",
           "--json",
           "--state",
           device / "state"}));
    };
    const auto reused = [](const Outcome& outcome) {
      const Json result = Folder::objects(outcome.out).at(0);
      return result["reused_tokens"].get<int64_t>();
    };
    EXPECT_EQ(generate(kLong).code, 0);
    { // Somebody else takes what is left.
      std::ofstream other(other_file, std::ios::binary);
      const std::string page(4096, 'x');
      while (other.write(page.data(), std::ssize(page)).flush()) {
      }
    }
    const std::string second = "the quick brown fox " + kLong;
    for (int again = 0; again < 2; ++again) {
      const Outcome served = generate(second);
      EXPECT_EQ(served.code, 0) << served.err;
      EXPECT_EQ(Folder::objects(served.out).at(0)["ids"].size(), 4u);
      EXPECT_EQ(count_of(served.err, kNotSaved), 1) << served.err;
      EXPECT_EQ(count_of(served.err, "holdfast: "), 1) << served.err;
    }
    const Outcome first = generate(kLong);
    EXPECT_EQ(first.code, 0) << first.err;
    EXPECT_EQ(reused(first), known_of(Folder::objects(first.out).at(0)))
        << "earlier entries stay readable";
    fs::remove(other_file);
    EXPECT_THAT(generate(second).err, Not(HasSubstr(kNotSaved)));
    const Outcome resumed = generate(second);
    EXPECT_EQ(reused(resumed), known_of(Folder::objects(resumed.out).at(0)));
  });
}

/// A model file of its own, one of whose weights can be changed.
class ChangedModel : public testing::Test {
 protected:
  ChangedModel() {
    fs::copy_file(model_path(), path_, fs::copy_options::overwrite_existing);
  }
  ~ChangedModel() override {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  /// One bit of the last tensor, so far from its end.
  void change(int64_t from_end) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-from_end, std::ios::end);
    const auto at = file.tellg();
    char byte = 0;
    file.get(byte);
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
    ASSERT_TRUE(file.good());
  }
  /// `generate` or `state why` of a long prompt; its object.
  Json ask(std::vector<std::string> command) const {
    command.insert(
        command.end(),
        {"-m",
         path_,
         "--threads",
         "1",
         "-p",
         kLong,
         "--json",
         "--state",
         folder_.path()});
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Folder::objects(outcome.out).at(0);
  }
  Json generate() const {
    return ask({"generate", "-n", "2", "--temp", "0"});
  }

  const Folder folder_{"changed"};
  const std::string path_ = scratch("changed.gguf");
};

// FAULTS B87: the same name, other weights.
TEST_F(ChangedModel, B87_OneChangedWeightFindsNothingAndSaysWhy) {
  usleep(2'100'000); // then its digest is remembered
  const Json first = generate();
  EXPECT_EQ(generate()["reused_tokens"], known_of(first));
  const auto time = fs::last_write_time(path_);
  const auto expect_other = [&] {
    for (const Json& answer : {ask({"state", "why"}), generate()}) {
      EXPECT_EQ(answer["reused_tokens"], 0);
      EXPECT_THAT(answer["reuse"].get<std::string>(), HasSubstr("model file"));
    }
  };
  change(64);
  fs::last_write_time(path_, time); // as some who copy do
  expect_other();
  change(128);
  expect_other();
  // As it was at first: that one's state is there again.
  change(64);
  change(128);
  EXPECT_EQ(generate()["reused_tokens"], known_of(first));
}

} // namespace
} // namespace holdfast::test
