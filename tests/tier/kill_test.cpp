// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A process at work in a folder of the system's is killed at a moment of
// chance. What it had been told is stored is there for the next one.

#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/env/posix_file_system.h"
#include "tests/env/temp_folder.h"
#include "tests/tier/crash_support.h"
#include "tests/tier/shared_truth.h"

namespace holdfast::test {
namespace {

/// What a process does again and again, until it is killed.
struct KillCase {
  const char* name;
  Bytes max_bytes;
  int rounds;
  std::function<void(Client&, std::mt19937&)> act;
};

void PrintTo(const KillCase& of, std::ostream* out) {
  *out << of.name;
}

std::string chat_name(int chat) {
  return "chat " + std::to_string(chat);
}

/// One of four chats grows by some tokens, or starts over.
void turn_of_some(Client& client, std::mt19937& random) {
  const auto chat = static_cast<int>(random() % 4);
  client.turn(chat_name(chat), chat_tokens(chat + 1, 1 + random() % 300));
}

/// A name that no other act gives: a record of other tokens would be forgotten
/// with them.
void fork_or_forget(Client& client, std::mt19937& random) {
  const auto fork = static_cast<int>(random() % 6);
  const std::string name = "fork " + std::to_string(fork);
  const Tokens tokens = chat_tokens(fork + 1, 200, 128); // 128 they all share
  if (random() % 3 == 0) {
    client.forget(name, tokens);
  } else {
    client.turn(name, tokens);
  }
}

/// A generation: its record is replaced as it grows, and goes when it is done.
void resume_points(Client& client, std::mt19937& random) {
  const auto run = static_cast<int>(random() % 3);
  for (int64_t length = 10; length < 150; length += 1 + random() % 60) {
    client.turn(chat_name(run), chat_tokens(run + 1, length));
  }
  client.end(chat_name(run));
}

void put_some_object(Client& client, std::mt19937& random) {
  const std::string key = std::to_string(random() % 8);
  if (random() % 4 == 0) {
    client.remove_object(key);
  } else {
    client.put_object(
        key,
        std::string(1 + random() % 20000, static_cast<char>(random() % 256)));
  }
}

void fill_and_evict(Client& client, std::mt19937& random) {
  turn_of_some(client, random);
  client.turn(
      "chat " + std::to_string(4 + random() % 20),
      chat_tokens(static_cast<int>(10 + random() % 20), 70));
  if (random() % 4 == 0) {
    client.evict(Bytes(60 << 10));
  }
}

void anything(Client& client, std::mt19937& random) {
  const std::vector<void (*)(Client&, std::mt19937&)> all = {
      turn_of_some, fork_or_forget, resume_points, put_some_object};
  all[random() % all.size()](client, random);
  if (random() % 8 == 0) {
    client.read_all();
  }
}

std::vector<KillCase> every(int rounds) {
  const Bytes wide(int64_t{1} << 30);
  return {
      {"TurnsOfSeveralChats", wide, rounds, turn_of_some},
      {"ForksAndForgetting", wide, rounds, fork_or_forget},
      {"ResumePoints", wide, rounds, resume_points},
      {"Objects", wide, rounds, put_some_object},
      {"Evictions", Bytes(570 << 10), rounds, fill_and_evict},
      {"Anything", wide, rounds, anything},
  };
}

class Kill : public testing::TestWithParam<KillCase> {
 protected:
  Kill()
      : workload_{
            .name = GetParam().name,
            .from_nothing = true,
            .max_bytes = GetParam().max_bytes,
            .run = nullptr,
            .folder = folder_ / "state"} {}

  /// The life of a process that knows what is true, and keeps it in `shared`.
  void live(uint32_t seed) {
    Truth truth = shared_.read();
    auto opened = DiskTier::open(options_of(posix_file_system(), workload_));
    Client client(
        *opened.value(), images_, truth, [&] { shared_.write(truth); });
    std::mt19937 random(seed);
    for (;;) {
      GetParam().act(client, random);
    }
  }

  /// Starts one, kills it, and compares what is there with the truth.
  void round(std::mt19937& random) {
    const auto seed = static_cast<uint32_t>(random());
    // So far, and a little further; 0: while it opens, as may be.
    const int until = shared_.writes() + static_cast<int>(random() % 12);
    const pid_t pid = ::fork();
    if (pid == 0) {
      try {
        live(seed);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
      }
      ::_exit(1);
    }
    const auto patience =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (shared_.writes() < until &&
           std::chrono::steady_clock::now() < patience) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    std::this_thread::sleep_for(
        std::chrono::microseconds(random() % 20000 + 500));
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
    expect_truth(posix_file_system(), workload_, shared_.read(), images_);
  }

  const TempFolder folder_;
  const Workload workload_;
  const Images images_;
  SharedTruth shared_;
};

TEST_P(Kill, AtAnyMomentLosesNothingThatWasAcknowledged) {
  // A change's tests say the same everywhere; the long form draws its own.
  const uint32_t seed = GetParam().rounds < 100 ? 7 : std::random_device{}();
  std::mt19937 random(seed);
  int stored = 0;
  for (int i = 0; i < GetParam().rounds; ++i) {
    round(random);
    ASSERT_FALSE(HasFailure()) << "round " << i << ", seed " << seed;
    const Truth truth = shared_.read();
    stored += static_cast<int>(truth.images.size() + truth.objects.size());
  }
  EXPECT_GT(stored, 0) << "no process got as far as a store";
}

std::string name_of(const testing::TestParamInfo<KillCase>& info) {
  return info.param.name;
}

// 54 rounds; the long form, which `./dev check` runs, 1002.
INSTANTIATE_TEST_SUITE_P(Workloads, Kill, testing::ValuesIn(every(9)), name_of);
INSTANTIATE_TEST_SUITE_P(
    DISABLED_Long,
    Kill,
    testing::ValuesIn(every(167)),
    name_of);

} // namespace
} // namespace holdfast::test
