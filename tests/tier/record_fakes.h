// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// RAM and disk of records, as a test needs them: contents are numbers. Any
// thread; hooks run where a store is called, with no lock held.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/tier/record.h"

namespace holdfast::tier_test {

struct Number : RecordContent {
  Number(int64_t number, Bytes size) : number(number), size(size) {}
  Bytes bytes() const override {
    return size;
  }
  int64_t number;
  Bytes size;
};

inline RecordKey
record_key(std::vector<int32_t> tokens, std::string space = "chat") {
  return {
      std::move(space),
      std::make_shared<const std::vector<int32_t>>(std::move(tokens))};
}

using Name = std::pair<std::string, std::vector<int32_t>>;

inline Name name_of(const RecordKey& key) {
  return {key.space, *key.tokens};
}

class FakeRam : public RecordSource {
 public:
  Result<std::shared_ptr<const RecordContent>>
  make(const RecordKey& key) override {
    const std::lock_guard lock(mutex_);
    ++made_;
    if (throws) {
      throw Error(ErrorCode::kOutOfBudget, "[FakeRam] no memory");
    }
    const auto at = numbers_.find(name_of(key));
    if (at == numbers_.end()) {
      return Status(ErrorCode::kNotFound, "[FakeRam] evicted");
    }
    return std::shared_ptr<const RecordContent>(
        std::make_shared<Number>(at->second, size));
  }
  void set(const RecordKey& key, int64_t number) {
    const std::lock_guard lock(mutex_);
    numbers_[name_of(key)] = number;
  }
  void evict(const RecordKey& key) {
    const std::lock_guard lock(mutex_);
    numbers_.erase(name_of(key));
  }
  int64_t made() const {
    const std::lock_guard lock(mutex_);
    return made_;
  }

  Bytes size{100};
  std::atomic<bool> throws{false};

 private:
  mutable std::mutex mutex_;
  std::map<Name, int64_t> numbers_;
  int64_t made_ = 0;
};

class FakeDisk : public RecordStore {
 public:
  Status store(
      const RecordKey& key,
      uint64_t version,
      const RecordContent& content) override {
    if (const auto hook = during_store) { // it may replace itself
      hook(key);
    }
    const std::lock_guard lock(mutex_);
    ++stores_;
    if (failures > 0) {
      --failures;
      return {ErrorCode::kIo, "[FakeDisk] refused"};
    }
    numbers_[name_of(key)] = dynamic_cast<const Number&>(content).number;
    versions_[name_of(key)] = version;
    return {};
  }
  bool is_durable(const RecordKey& key, uint64_t version) override {
    const std::lock_guard lock(mutex_);
    const auto at = versions_.find(name_of(key));
    return at != versions_.end() && at->second >= version;
  }
  /// Where a longer record's name begins with this one, and is restorable.
  bool is_covered(const RecordKey& key) override {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, number] : numbers_) {
      if (restorable && name.first == key.space &&
          name.second.size() > key.tokens->size() &&
          std::equal(
              key.tokens->begin(), key.tokens->end(), name.second.begin())) {
        return true;
      }
    }
    return false;
  }
  /// The number on disk, -1 for none.
  int64_t number(const RecordKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto at = numbers_.find(name_of(key));
    return at == numbers_.end() ? -1 : at->second;
  }
  /// As though another coordinator had stored it.
  void put(const RecordKey& key, uint64_t version, int64_t number) {
    const std::lock_guard lock(mutex_);
    numbers_[name_of(key)] = number;
    versions_[name_of(key)] = version;
  }
  /// A new coordinator counts versions from 1 again.
  void restart() {
    const std::lock_guard lock(mutex_);
    versions_.clear();
  }
  int64_t stores() const {
    const std::lock_guard lock(mutex_);
    return stores_;
  }

  std::function<void(const RecordKey&)> during_store;
  std::atomic<int64_t> failures{0}; // of the stores to come
  std::atomic<bool> restorable{true};

 private:
  mutable std::mutex mutex_;
  std::map<Name, int64_t> numbers_;
  std::map<Name, uint64_t> versions_;
  int64_t stores_ = 0;
};

} // namespace holdfast::tier_test
