// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A store of checkpoints in memory. Any thread; hooks run with no lock held.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "holdfast/env/manual_clock.h"
#include "holdfast/tier/continuations.h"
#include "tests/tier/record_fakes.h"

namespace holdfast::tier_test {

class FakeCheckpoints : public CheckpointStore {
 public:
  struct Kept {
    uint64_t attempt = 0;
    uint64_t version = 0;
    int64_t generated = 0;
  };

  Status write(
      const std::string& key,
      CheckpointVersion version,
      const Checkpoint& checkpoint) override {
    if (const auto hook = during_write) {
      hook(key);
    }
    const std::lock_guard lock(mutex_);
    ++writes_;
    if (write_failures > 0 || failing.contains(key)) {
      write_failures -= write_failures > 0 ? 1 : 0;
      return {ErrorCode::kIo, "[FakeCheckpoints] refused"};
    }
    kept_[key] = {version.attempt, version.version, checkpoint.generated.get()};
    return {};
  }
  Status remove(const std::string& key) override {
    if (const auto hook = during_remove) {
      hook(key);
    }
    const std::lock_guard lock(mutex_);
    ++removals_;
    if (remove_failures > 0 || failing.contains(key)) {
      remove_failures -= remove_failures > 0 ? 1 : 0;
      return {ErrorCode::kIo, "[FakeCheckpoints] refused"};
    }
    kept_.erase(key);
    return {};
  }
  Result<std::shared_ptr<void>> claim(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    if (elsewhere.contains(key)) {
      return Status(
          ErrorCode::kUnsupported, "[FakeCheckpoints] in use elsewhere");
    }
    ++claims_;
    return std::shared_ptr<void>(this, [this](void*) {
      if (const auto hook = during_release) {
        hook();
      }
      --claims_;
    });
  }

  std::optional<Kept> kept(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto at = kept_.find(key);
    return at == kept_.end() ? std::nullopt : std::optional(at->second);
  }
  int64_t writes() const {
    const std::lock_guard lock(mutex_);
    return writes_;
  }
  int64_t removals() const {
    const std::lock_guard lock(mutex_);
    return removals_;
  }
  int64_t claims() const {
    return claims_;
  }

  /// Of `elsewhere`, for tests with threads.
  std::mutex& mutex() const {
    return mutex_;
  }

  std::function<void(const std::string&)> during_write;
  std::function<void(const std::string&)> during_remove;
  std::function<void()> during_release; // of a claim
  std::atomic<int64_t> write_failures{0}; // of the calls to come
  std::atomic<int64_t> remove_failures{0};
  std::set<std::string> failing; // keys of which every call fails
  std::set<std::string> elsewhere; // keys that other processes have

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Kept> kept_;
  int64_t writes_ = 0;
  int64_t removals_ = 0;
  std::atomic<int64_t> claims_{0};
};

inline std::string numbered(int i) {
  std::string key = "k";
  return key.append(std::to_string(i));
}

/// Content of some bytes.
inline Checkpoint checkpoint(int64_t generated = 1, Bytes bytes = Bytes(10)) {
  return {
      .content = std::make_shared<Number>(generated, bytes),
      .tokens = Position(generated + 100),
      .generated = Position(generated)};
}

struct ContinuationRig {
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  FakeCheckpoints store;
  SpillQueue queue{
      {.clock = clock, .writers = 0, .checkpoint_bytes = Bytes(100)}};
  Continuations continuations{queue, store, clock};

  Continuation begin(const std::string& key) {
    return continuations.begin(key).value();
  }
};

} // namespace holdfast::tier_test
