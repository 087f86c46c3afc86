// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A file system on which whoever makes a new file waits, as on a network folder
// that is away, until it is let go. Threads: any.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "holdfast/env/faulty_file_system.h"

namespace holdfast::test {

class StuckFileSystem : public FaultyFileSystem {
 public:
  explicit StuckFileSystem(std::shared_ptr<FileSystem> below)
      : FaultyFileSystem(std::move(below)) {}
  ~StuckFileSystem() override {
    let_go();
  }

  void stick() {
    const std::lock_guard lock(mutex_);
    stuck_ = true;
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    stuck_ = false;
    changed_.notify_all();
  }
  /// Until somebody waits.
  void await_waiter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }

  Result<std::unique_ptr<File>> create(const std::string& path) override {
    {
      std::unique_lock lock(mutex_);
      ++waiting_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return !stuck_; });
      --waiting_;
    }
    return FaultyFileSystem::create(path);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool stuck_ = false;
};

} // namespace holdfast::test
