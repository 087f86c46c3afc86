// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A fixed team of threads for kernels. The calling thread is worker 0, so a
// team of n owns n - 1 threads; who waits spins briefly, then sleeps.
//
// Threads: run() from any: callers wait for their turn. From within a task of
// any team it throws kInternal. Which worker does which item never decides a
// result's bits: that is the kernels' duty, not this class's.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast {

class Executor {
 public:
  /// A team of `threads` workers, 1 to 1024: throws kInvalidArgument otherwise,
  /// kIo where the system gives no thread.
  explicit Executor(int threads);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const {
    return threads_;
  }

  /// Calls task(worker) once on every worker and returns when all are done. The
  /// first exception of a worker is rethrown here, after all have finished.
  void run(const std::function<void(int worker)>& task);

  /// Calls task(item, worker) for each item in [0, items); workers take items
  /// one by one, in order. A single item runs on the calling thread. After an
  /// exception some items may not have been run.
  void for_each(
      int64_t items,
      const std::function<void(int64_t item, int worker)>& task);

 private:
  // Fields that different threads write stand on lines of their own.
  static constexpr size_t kLine = 64;

  void lead(const std::function<void(int)>& task);
  void await_team();
  void work(int worker);
  void stop();

  const int threads_;
  std::vector<std::thread> team_;
  std::atomic<bool> busy_{false};
  const std::function<void(int)>* task_ = nullptr;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::exception_ptr failure_; // guarded by mutex_ while workers run
  alignas(kLine) std::atomic<uint64_t> round_{0};
  alignas(kLine) std::atomic<int> sleepers_{0};
  alignas(kLine) std::atomic<int> running_{0};
};

} // namespace holdfast
