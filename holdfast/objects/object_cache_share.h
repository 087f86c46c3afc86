// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to ObjectCache: the cache among those of a shared budget. When it
// ends, what was handed out still counts there until it is let go of. Threads:
// any.

#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "holdfast/objects/object_cache_core.h"

namespace holdfast {

class ObjectCache::Core::Share final : public RamUser {
 public:
  Share(Core& core, std::shared_ptr<SharedRam> ram)
      : core_(core), ram_(std::move(ram)) {
    ram_->join(*this);
  }
  ~Share() override {
    ram_->leave(*this);
    core_.budget.end(ram_);
  }
  bool ask(Bytes room) {
    return ram_->ask(*this, room, SharedRam::Ask::kWhole);
  }

  Bytes unused() override {
    return core_.budget.unused();
  }
  Bytes may_leave(Bytes most) override {
    const std::lock_guard lock(core_.mutex);
    return core_.index.may_leave(most);
  }
  std::optional<LeavingRam> next_to_leave(uint64_t now) override {
    const std::lock_guard lock(core_.mutex);
    return core_.index.next(now);
  }
  Bytes give(Bytes wanted, From from) override {
    const Bytes more = wanted - core_.budget.unused();
    if (from == From::kEntries && more > Bytes(0)) {
      std::ignore = core_.let_go(more, ObjectIndex::Take::kWhatThereIs);
    }
    return core_.budget.lower(wanted);
  }
  Bytes let_go(Bytes wanted) override {
    return core_.let_go(wanted, ObjectIndex::Take::kWhatThereIs);
  }
  void take(Bytes more) override {
    core_.budget.raise(more);
  }

 private:
  Core& core_;
  const std::shared_ptr<SharedRam> ram_;
};

} // namespace holdfast
