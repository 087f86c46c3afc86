// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A line on standard error where something takes long. One thread; it has one
// of its own.

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace holdfast::app {

/// Says `line` once, unless it is gone by then.
class SlowNotice {
 public:
  SlowNotice(std::string line, std::chrono::milliseconds after);
  ~SlowNotice();
  SlowNotice(const SlowNotice&) = delete;
  SlowNotice& operator=(const SlowNotice&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;
};

} // namespace holdfast::app
