// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Random operations against a shadow: a list in the order of last use, and what
// the disk has. All objects are of one size and cost, so that what leaves is
// known exactly.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <list>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "tests/code_of.h"
#include "tests/objects/object_rig.h"

namespace holdfast::test {
namespace {

constexpr int64_t kSize = 4096;
constexpr int kKeys = 9;
constexpr size_t kRoom = 4;

class Shadow {
 public:
  explicit Shadow(ObjectRig& rig) : rig_(rig) {
    open();
  }

  void put(int key, int version) {
    if (!make_room()) { // for the object, before it is known to be the same
      EXPECT_EQ(
          code_of([&] { cache_->open(Bytes(kSize)); }),
          ErrorCode::kOutOfBudget);
      return;
    }
    const auto kept = find(key);
    if (kept != ram_.end() && kept->version == version) {
      use(kept);
      if (kept->from_disk || kept->on_disk) { // is it there still?
        kept->from_disk = false;
        dirty_.insert(key);
      }
    } else {
      if (kept != ram_.end()) {
        ASSERT_FALSE(kept->held);
        ram_.erase(kept);
      }
      ram_.push_back({key, version});
      dirty_.insert(key);
    }
    const std::string value = value_of(key, version, kSize);
    ASSERT_EQ(text_of(test::put(*cache_, key, value)), value);
  }

  void get(int key, bool hold) {
    std::string want;
    if (const auto kept = find(key); kept != ram_.end()) {
      want = value_of(key, kept->version, kSize);
      use(kept);
    } else if (disk_.contains(key)) {
      want = value_of(key, disk_[key], kSize);
      if (make_room()) {
        ram_.push_back({key, disk_[key], true, true});
      }
    }
    const auto found = cache_->get(name_of(key));
    ASSERT_EQ(found ? text_of(*found) : "", want);
    if (const auto kept = find(key); hold && kept != ram_.end()) {
      kept->held = found;
    }
  }

  void release(int key) {
    if (const auto kept = find(key); kept != ram_.end()) {
      kept->held.reset();
    }
  }

  void remove(int key) {
    release(key); // what is removed and held would count
    ASSERT_TRUE(cache_->remove(name_of(key)).ok());
    if (const auto kept = find(key); kept != ram_.end()) {
      ram_.erase(kept);
    }
    disk_.erase(key);
    dirty_.erase(key);
  }

  /// What was lost before its write stays dirty and missing.
  void flush() {
    const auto written = [&](int key) {
      const auto kept = find(key);
      if (kept == ram_.end() || kept->from_disk) {
        return false;
      }
      disk_[key] = kept->version;
      kept->on_disk = true;
      return true;
    };
    std::erase_if(dirty_, written);
    const FlushReport report = cache_->flush();
    ASSERT_EQ(report.missing, std::ssize(dirty_));
    ASSERT_EQ(report.durable, dirty_.empty());
  }

  void restart() {
    ram_.clear();
    cache_.reset();
    dirty_.clear();
    open();
  }

  void check() {
    const ObjectStats stats = cache_->stats();
    int64_t on_disk = 0;
    for (const Kept& kept : ram_) {
      on_disk += kept.on_disk;
    }
    ASSERT_EQ(stats.objects, std::ssize(ram_));
    ASSERT_EQ(stats.on_disk, on_disk);
    ASSERT_EQ(stats.kept, Bytes(kSize * std::ssize(ram_)));
    ASSERT_EQ(stats.bytes, stats.kept);
    ASSERT_EQ(cache_->pending().pending_records, std::ssize(dirty_));
  }

 private:
  struct Kept {
    int key;
    int version;
    bool on_disk = false;
    bool from_disk = false; // read there, not put
    std::optional<Object> held = {};
  };
  using Ram = std::list<Kept>; // the last used at the end

  void open() {
    cache_ = std::make_unique<ObjectCache>(
        rig_.over(rig_.open_disk(), kSize * int64_t{kRoom}));
  }
  Ram::iterator find(int key) {
    return std::ranges::find(ram_, key, &Kept::key);
  }
  void use(Ram::iterator kept) {
    ram_.splice(ram_.end(), ram_, kept);
  }
  /// For one more object.
  bool make_room() {
    if (ram_.size() < kRoom) {
      return true;
    }
    for (const bool on_disk : {true, false}) {
      for (auto at = ram_.begin(); at != ram_.end(); ++at) {
        if (at->on_disk == on_disk && !at->held) {
          ram_.erase(at);
          return true;
        }
      }
    }
    return false;
  }

  ObjectRig& rig_;
  std::unique_ptr<ObjectCache> cache_;
  Ram ram_;
  std::map<int, int> disk_; // key -> version
  std::set<int> dirty_;
};

struct Move {
  int what;
  int key;
  int version;
};

void play(Shadow& shadow, const Move& move) {
  switch (move.what) {
    case 0:
    case 1:
    case 2:
      shadow.release(move.key); // what is replaced and held would count
      shadow.put(move.key, move.version);
      break;
    case 3:
    case 4:
    case 5:
      shadow.get(move.key, move.version == 0);
      break;
    case 6:
      shadow.release(move.key);
      break;
    case 7:
      shadow.remove(move.key);
      break;
    case 8:
      shadow.flush();
      break;
    default:
      if (move.key == 0) {
        shadow.restart();
      }
  }
  shadow.check();
}

RC_GTEST_PROP(ObjectModel, AgreesWithAListOverLongScripts, ()) {
  const auto digits = *rc::gen::container<std::vector<uint16_t>>(
      rc::gen::arbitrary<uint16_t>());
  ObjectRig rig;
  Shadow shadow(rig);
  for (const uint16_t number : digits) {
    play(
        shadow,
        {.what = number % 10,
         .key = number / 10 % kKeys,
         .version = number / 100 % 3});
    RC_ASSERT(!testing::Test::HasFailure());
  }
}

TEST(ObjectModel, AgreesWithAListOverOneLongScript) {
  ObjectRig rig;
  Shadow shadow(rig);
  std::mt19937 random(91);
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    play(
        shadow,
        {.what = int(random() % 10),
         .key = int(random() % kKeys),
         .version = int(random() % 3)});
  }
}

} // namespace
} // namespace holdfast::test
