// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/executor.h"

#include <string>
#include <system_error>
#include <utility>

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

// 20 to 80 us of pauses, as the processor has it: longer than the gap between
// two primitives of one forward, shorter than what a person would notice as
// load.
constexpr int kSpins = 2000;
// Then run() gives way to whoever else wants its processor before it sleeps.
constexpr int kYields = 50;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// This thread is within a task: a turn it waited for might never come.
thread_local bool in_task = false;

/// Holds the one turn that there is, once it has come. Streams of states with
/// one runtime, and the engine thread that converts, meet here.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& busy) : busy_(busy) {
    ensure(
        !in_task, "[Executor] expected no run within a run, got one in a task");
    while (busy_.exchange(true)) {
      busy_.wait(true);
    }
    in_task = true;
  }
  ~Turn() {
    in_task = false;
    busy_.store(false);
    busy_.notify_one(); // no system call unless somebody waits
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& busy_;
};

} // namespace

Executor::Executor(int threads) : threads_(threads) {
  expect(
      threads >= 1 && threads <= 1024, "[Executor] expected 1 to 1024 threads");
  team_.reserve(threads - 1);
  try {
    for (int worker = 1; worker < threads; ++worker) {
      team_.emplace_back([this, worker] { work(worker); });
    }
  } catch (const std::system_error& error) {
    stop();
    throw Error(
        ErrorCode::kIo,
        std::string("[Executor] expected the system to give threads, got ") +
            error.what());
  } catch (...) { // a thread that is not joined would end the process
    stop();
    throw;
  }
}

Executor::~Executor() {
  stop();
}

void Executor::stop() {
  {
    std::lock_guard lock(mutex_);
    stop_.store(true);
    round_.fetch_add(1);
  }
  wake_.notify_all();
  for (auto& thread : team_) {
    thread.join();
  }
}

void Executor::run(const std::function<void(int)>& task) {
  const Turn turn(busy_);
  if (threads_ == 1) {
    task(0);
  } else {
    lead(task);
  }
}

void Executor::lead(const std::function<void(int)>& task) {
  task_ = &task;
  running_.store(threads_ - 1);
  round_.fetch_add(1); // seq_cst, as is sleepers_: one side sees the other
  if (sleepers_.load() > 0) {
    { std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  std::exception_ptr own;
  try {
    task(0);
  } catch (...) {
    own = std::current_exception();
  }
  await_team();
  const std::exception_ptr theirs = std::exchange(failure_, nullptr);
  if (own || theirs) {
    std::rethrow_exception(own ? own : theirs);
  }
}

void Executor::await_team() {
  int running = running_.load();
  for (int spins = 0; running != 0; ++spins) {
    if (spins < kSpins) {
      pause();
    } else if (spins < kSpins + kYields) {
      std::this_thread::yield();
    } else {
      running_.wait(running);
    }
    running = running_.load();
  }
}

void Executor::for_each(
    int64_t items,
    const std::function<void(int64_t, int)>& task) {
  if (items <= 0) {
    return;
  }
  if (items == 1) {
    const Turn turn(busy_);
    task(0, 0);
    return;
  }
  std::atomic<int64_t> next{0};
  run([&](int worker) {
    for (int64_t item = next.fetch_add(1); item < items;
         item = next.fetch_add(1)) {
      task(item, worker);
    }
  });
}

void Executor::work(int worker) {
  in_task = true; // whatever it calls
  uint64_t seen = 0;
  for (;;) {
    int spins = 0;
    while (round_.load() == seen && spins < kSpins) {
      pause();
      ++spins;
    }
    if (round_.load() == seen) {
      std::unique_lock lock(mutex_);
      sleepers_.fetch_add(1);
      wake_.wait(lock, [&] { return round_.load() != seen; });
      sleepers_.fetch_sub(1);
    }
    ++seen; // run() ends only after every worker has taken part, so rounds
            // arrive one at a time
    if (stop_.load()) {
      return;
    }
    try {
      (*task_)(worker);
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!failure_) {
        failure_ = std::current_exception();
      }
    }
    if (running_.fetch_sub(1) == 1) {
      running_.notify_one(); // no system call unless run() sleeps
    }
  }
}

} // namespace holdfast
