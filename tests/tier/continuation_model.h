// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What one key of resumable generations must do, as a plain list of jobs.
// Values; one thread.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace holdfast::tier_test {

class KeyModel {
 public:
  struct Attempt {
    int64_t newest = 0; // number of the newest checkpoint
    bool released = false;
    bool failed = false;
  };

  /// `id` is larger than any before.
  void begin(int64_t id) {
    if (!failed.empty() && cleanups() == 0) {
      add_cleanup();
    }
    std::erase_if(jobs, [](const Job& job) { return job.barrier == 0; });
    current = id;
    attempt = {};
  }

  void checkpoint(int64_t id, int64_t number) {
    if (current == id) {
      attempt.newest = number;
      jobs.push_back({.number = number});
    }
  }

  void complete(int64_t id) {
    if (current == id) {
      std::erase_if(jobs, [](const Job& job) { return job.barrier == 0; });
      current.reset();
      add_cleanup();
    }
  }

  void release(int64_t id) {
    if (current == id) {
      attempt.released = true;
      settle();
    }
  }

  void drain(bool failing) {
    for (const Job& job : jobs) {
      if (job.barrier == 0) {
        disk = failing ? disk : std::optional(job.number);
        // Earlier versions say nothing of the attempt.
        attempt.failed =
            job.number == attempt.newest ? failing : attempt.failed;
      } else if (failing) {
        failed.insert(job.barrier);
      } else {
        disk.reset();
        failed.clear(); // one at a time, so all are older
      }
    }
    jobs.clear();
    settle();
  }

  void flush(bool failing) {
    if (!current && !failed.empty() && cleanups() == 0) {
      add_cleanup();
    }
    drain(failing);
  }

  bool can_restore() const {
    return failed.empty() && cleanups() == 0;
  }
  bool open() const {
    return current || !jobs.empty() || !failed.empty();
  }

  std::optional<int64_t> disk; // number of the checkpoint
  std::optional<int64_t> current; // id of the attempt
  Attempt attempt;
  std::set<int64_t> failed; // barriers

 private:
  struct Job {
    int64_t number = 0;
    int64_t barrier = 0; // 0: a write
  };

  int64_t cleanups() const {
    int64_t count = 0;
    for (const Job& job : jobs) {
      count += job.barrier == 0 ? 0 : 1;
    }
    return count;
  }
  void add_cleanup() {
    jobs.push_back({.number = 0, .barrier = ++barriers_});
  }
  /// Nobody waits for an attempt that was left and is on disk.
  void settle() {
    bool writes = false;
    for (const Job& job : jobs) {
      writes = writes || job.barrier == 0;
    }
    if (attempt.released && !attempt.failed && !writes) {
      current.reset();
    }
  }

  std::vector<Job> jobs;
  int64_t barriers_ = 0;
};

} // namespace holdfast::tier_test
