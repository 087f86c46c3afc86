// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "slow_notice.h"

#include <utility>

#include "console.h"

namespace holdfast::app {

SlowNotice::SlowNotice(std::string line, std::chrono::milliseconds after)
    : thread_([this, line = std::move(line), after] {
        std::unique_lock lock(mutex_);
        if (!ended_.wait_for(lock, after, [this] { return is_over_; })) {
          complain(line);
        }
      }) {}

SlowNotice::~SlowNotice() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

} // namespace holdfast::app
