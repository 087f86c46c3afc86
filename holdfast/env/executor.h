// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A fixed team of threads for kernels. The calling thread is worker 0, so a
// team of n owns n - 1 threads; idle workers spin briefly, then sleep.
//
// Threads: run() from one thread at a time. Which worker does which item never
// decides a result's bits: that is the kernels' duty, not this class's.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast {

class Executor {
 public:
  /// A team of `threads` workers, 1 to 1024; throws Error otherwise.
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
  /// one by one, in order.
  void for_each(
      int64_t items,
      const std::function<void(int64_t item, int worker)>& task);

 private:
  void work(int worker);

  const int threads_;
  std::vector<std::thread> team_;
  std::atomic<uint64_t> round_{0};
  std::atomic<int> running_{0};
  std::atomic<bool> stop_{false};
  std::atomic<int> sleepers_{0};
  const std::function<void(int)>* task_ = nullptr;
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::condition_variable wake_;
};

} // namespace holdfast
