// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One run of a flush, which later flushes may join. Threads: none of its own;
// Durability's lock guards it.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "holdfast/tier/durability.h"

namespace holdfast {

struct Durability::FlushRun {
  struct Item {
    uint64_t id = 0;
    uint64_t tried = 0; // the version that the flush forced
    bool forgotten = false; // meanwhile
  };

  /// Makes the run's end known, also where it ends by an exception.
  class End {
   public:
    End(std::shared_ptr<FlushRun> run,
        std::shared_ptr<FlushRun>& running,
        std::condition_variable& ended)
        : run_(std::move(run)), running_(running), ended_(ended) {}
    ~End() {
      run_->cut = run_->cut || std::uncaught_exceptions() > 0;
      run_->done = true;
      running_.reset();
      ended_.notify_all();
    }
    End(const End&) = delete;
    End& operator=(const End&) = delete;

   private:
    std::shared_ptr<FlushRun> run_;
    std::shared_ptr<FlushRun>& running_;
    std::condition_variable& ended_;
  };

  void forget(uint64_t id) {
    for (Item& item : items) {
      item.forgotten = item.forgotten || item.id == id;
    }
  }

  uint64_t mark = 0; // covers the puts up to this version
  std::vector<Item> items;
  FlushReport before; // the totals when it was called
  FlushReport report; // once done
  bool cut = false; // a deadline or an exception ended it
  bool done = false;
};

} // namespace holdfast
