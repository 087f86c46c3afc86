// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/executor.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/base/status.h"

namespace holdfast {
namespace {

class ExecutorOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, ExecutorOf, testing::Values(1, 2, 3, 8));

TEST_P(ExecutorOf, RunsTheTaskOnceOnEveryWorkerInEveryRound) {
  Executor executor(GetParam());
  ASSERT_EQ(executor.threads(), GetParam());
  std::vector<int> calls(GetParam(), 0); // each written by its worker alone
  for (int round = 1; round <= 300; ++round) {
    executor.run([&](int worker) { ++calls[worker]; });
    for (const int count : calls) {
      ASSERT_EQ(count, round);
    }
  }
}

TEST_P(ExecutorOf, TakesEachItemOnce) {
  Executor executor(GetParam());
  for (const int64_t items : {0, 1, 2, 7, 100, 1000}) {
    std::vector<int> taken(items, 0);
    std::atomic<int> bad_workers{0};
    executor.for_each(items, [&](int64_t item, int worker) {
      ++taken[item];
      bad_workers += worker < 0 || worker >= GetParam();
    });
    EXPECT_EQ(taken, std::vector<int>(items, 1));
    EXPECT_EQ(bad_workers, 0);
  }
  executor.for_each(-3, [&](int64_t, int) { FAIL(); });
}

TEST_P(ExecutorOf, WorkerZeroIsTheCaller) {
  Executor executor(GetParam());
  const auto caller = std::this_thread::get_id();
  std::vector<std::thread::id> ids(GetParam());
  executor.run([&](int worker) { ids[worker] = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], caller);
  for (size_t worker = 1; worker < ids.size(); ++worker) {
    EXPECT_NE(ids[worker], caller);
  }
}

TEST_P(ExecutorOf, RethrowsAWorkersExceptionAfterAllHaveFinished) {
  Executor executor(GetParam());
  for (int thrower = 0; thrower < GetParam(); ++thrower) {
    std::atomic<int> finished{0};
    std::string text;
    try {
      executor.run([&](int worker) {
        if (worker == thrower) {
          throw Error(ErrorCode::kCorrupt, "worker " + std::to_string(worker));
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        ++finished;
      });
    } catch (const Error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "worker " + std::to_string(thrower));
    EXPECT_EQ(finished, GetParam() - 1);
  }
}

TEST_P(ExecutorOf, IsUsableAfterEveryWorkerThrew) {
  Executor executor(GetParam());
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(executor.run([](int worker) { throw worker; }), int);
    std::atomic<int> calls{0};
    EXPECT_NO_THROW(executor.run([&](int) { ++calls; }));
    EXPECT_EQ(calls, GetParam());
  }
}

TEST_P(ExecutorOf, WakesWorkersThatFellAsleep) {
  Executor executor(GetParam());
  for (int round = 0; round < 10; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> calls{0};
    executor.run([&](int) { ++calls; });
    ASSERT_EQ(calls, GetParam());
  }
}

TEST_P(ExecutorOf, RefusesARunWithinARun) {
  Executor executor(GetParam());
  Executor other(1);
  for (Executor* within : {&executor, &other}) {
    for (const int64_t items : {1, 2}) {
      std::vector<ErrorCode> codes(GetParam(), ErrorCode::kOk);
      executor.run([&](int worker) {
        try {
          within->for_each(items, [](int64_t, int) {});
        } catch (const Error& error) {
          codes[worker] = error.code();
        }
      });
      EXPECT_EQ(codes, std::vector(GetParam(), ErrorCode::kInternal)) << items;
    }
  }
  EXPECT_NO_THROW(executor.run([](int) {}));
  EXPECT_NO_THROW(other.run([](int) {}));
}

// Streams of states with one runtime, and who converts beside them.
TEST_P(ExecutorOf, GivesCallersOfSeveralThreadsTheirTurns) {
  constexpr int kCallers = 4;
  constexpr int kRounds = 200;
  Executor executor(GetParam());
  int64_t inside = -1; // plain memory: turns order it
  std::atomic<int> meetings{0};
  std::atomic<int> failures{0};
  std::vector<std::vector<int>> taken(kCallers, std::vector<int>(3, 0));
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < kRounds; ++round) {
        try {
          executor.run([&](int worker) {
            if (worker == 0) {
              inside = caller;
            }
          });
          executor.for_each(1, [&](int64_t, int) {
            inside = caller;
            std::this_thread::yield();
            meetings += inside != caller;
          });
          executor.for_each(
              3, [&](int64_t item, int) { ++taken[caller][item]; });
        } catch (const Error&) {
          ++failures;
        }
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(meetings, 0);
  EXPECT_EQ(taken, std::vector(kCallers, std::vector<int>(3, kRounds)));
}

TEST_P(ExecutorOf, SleepsUntilASlowWorkerIsDone) {
  Executor executor(GetParam());
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> finished{0};
    executor.run([&](int worker) {
      std::this_thread::sleep_for(std::chrono::milliseconds(worker));
      ++finished;
    });
    ASSERT_EQ(finished, GetParam());
  }
}

TEST(Executor, RefusesATeamOfNoneOrTooMany) {
  for (const int threads : {-1, 0, 1025}) {
    EXPECT_THROW(Executor executor(threads), Error) << threads;
  }
}

TEST(Executor, EndsWithItsWorkDoneWhetherWorkersSpinOrSleep) {
  for (int round = 0; round < 60; ++round) {
    std::atomic<int> called{0};
    {
      Executor executor(1 + round % 8);
      if (round % 3 == 0) {
        executor.run([&](int) { ++called; });
      }
      if (round % 5 == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    ASSERT_EQ(called, round % 3 == 0 ? 1 + round % 8 : 0);
  }
}

/// One random round on a team: what a worker does and whether it throws is
/// decided beforehand, and everything is checked afterwards.
struct RandomRound {
  explicit RandomRound(std::mt19937& random, int threads)
      : items(random() % 40), pause(random() % 4 == 0) {
    throws.resize(items);
    for (auto& t : throws) {
      t = random() % 16 == 0;
    }
    expected_sum = threads; // of each worker's call in run()
  }
  int64_t items;
  bool pause;
  std::vector<uint8_t> throws;
  int64_t expected_sum;
};

void check_for_each(Executor& executor, const RandomRound& round) {
  std::vector<std::atomic<int>> taken(round.items);
  bool thrown = false;
  try {
    executor.for_each(round.items, [&](int64_t item, int) {
      ++taken[item];
      if (round.throws[item]) {
        throw Error(ErrorCode::kStale, std::to_string(item));
      }
    });
  } catch (const Error& error) {
    thrown = true;
    ASSERT_EQ(round.throws[std::stoll(error.what())], 1);
  }
  const auto throwing =
      std::accumulate(round.throws.begin(), round.throws.end(), 0);
  ASSERT_EQ(thrown, throwing > 0);
  for (int64_t item = 0; item < round.items; ++item) {
    ASSERT_LE(taken[item], 1);
    if (throwing < executor.threads()) { // somebody is left to take the rest
      ASSERT_EQ(taken[item], 1);
    }
  }
}

TEST(Executor, SurvivesRandomRoundsOfTeamsThatThrowAndSleep) {
  std::mt19937 random(20260101);
  for (int team = 0; team < 24; ++team) {
    const int threads = 1 + static_cast<int>(random() % 8);
    Executor executor(threads);
    for (int i = 0; i < 80; ++i) {
      const RandomRound round(random, threads);
      ASSERT_NO_FATAL_FAILURE(check_for_each(executor, round));
      std::atomic<int64_t> sum{0};
      executor.run([&](int) { ++sum; });
      ASSERT_EQ(sum, round.expected_sum);
      if (round.pause) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      }
    }
  }
}

TEST(Executor, HandsPlainMemoryToTheTeamAndBack) {
  Executor executor(4);
  std::vector<int64_t> values(512, 0); // no atomics: the rounds order them
  int64_t factor = 0;
  for (int round = 1; round <= 200; ++round) {
    factor = round;
    executor.for_each(8, [&](int64_t part, int) {
      for (int64_t i = part * 64; i < part * 64 + 64; ++i) {
        values[i] += factor;
      }
    });
  }
  EXPECT_EQ(values, std::vector<int64_t>(512, 200 * 201 / 2));
}

} // namespace
} // namespace holdfast
