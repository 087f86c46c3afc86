// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Random scripts of attempts, checkpoints, completions, cancels and failures,
// of Continuations and of a model.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/tier/checkpoint_fakes.h"
#include "tests/tier/continuation_model.h"

namespace holdfast {
namespace {

enum class Act {
  kBegin,
  kCheckpoint,
  kComplete,
  kLeave,
  kFail,
  kDrain,
  kFlush
};

struct Event {
  Act act = Act::kBegin;
  uint32_t number = 0;
};

std::ostream& operator<<(std::ostream& out, const Event& event) {
  constexpr const char* kNames[] = {
      "begin", "checkpoint", "complete", "leave", "fail", "drain", "flush"};
  return out << kNames[static_cast<int>(event.act)] << ' ' << event.number;
}

rc::Gen<std::vector<Event>> events() {
  const auto act = rc::gen::weightedElement<Act>({
      {4, Act::kBegin},
      {8, Act::kCheckpoint},
      {4, Act::kComplete},
      {3, Act::kLeave},
      {3, Act::kFail},
      {3, Act::kDrain},
      {2, Act::kFlush},
  });
  return rc::gen::container<std::vector<Event>>(rc::gen::build<Event>(
      rc::gen::set(&Event::act, act),
      rc::gen::set(&Event::number, rc::gen::inRange<uint32_t>(0, 1000))));
}

class Pair {
 public:
  void apply(const Event& event) {
    const size_t k = event.number % kKeys;
    switch (event.act) {
      case Act::kBegin:
        models_[k].begin(++ids_);
        live_.push_back({k, ids_, rig_.begin(tier_test::numbered(int(k)))});
        break;
      case Act::kFail:
        if (!rig_.store.failing.erase(tier_test::numbered(int(k)))) {
          rig_.store.failing.insert(tier_test::numbered(int(k)));
        }
        break;
      case Act::kDrain:
        rig_.queue.drain();
        for (size_t i = 0; i < kKeys; ++i) {
          models_[i].drain(failing(i));
        }
        break;
      case Act::kFlush:
        flush();
        break;
      default:
        if (!live_.empty()) {
          on_attempt(event.act, event.number % live_.size());
        }
    }
    compare();
  }

 private:
  static constexpr size_t kKeys = 3;
  struct Live {
    size_t key;
    int64_t id;
    Continuation attempt;
  };

  bool failing(size_t k) const {
    return rig_.store.failing.contains(tier_test::numbered(int(k)));
  }

  void on_attempt(Act act, size_t index) {
    Live& live = live_[index];
    tier_test::KeyModel& model = models_[live.key];
    RC_ASSERT(live.attempt.current() == (model.current == live.id));
    if (act == Act::kCheckpoint) {
      model.checkpoint(live.id, ++numbers_);
      const Enqueued done =
          live.attempt.checkpoint(tier_test::checkpoint(numbers_, Bytes(0)));
      RC_ASSERT(
          done ==
          (model.current == live.id ? Enqueued::kQueued : Enqueued::kDeclined));
    } else if (act == Act::kComplete) {
      model.complete(live.id);
      live.attempt.complete();
    } else {
      model.release(live.id);
      live_.erase(live_.begin() + static_cast<ptrdiff_t>(index));
    }
  }

  void flush() {
    const ContinuationReport report = rig_.continuations.flush();
    int64_t attempts = 0;
    int64_t cleanups = 0;
    for (size_t k = 0; k < kKeys; ++k) {
      models_[k].flush(failing(k));
      attempts += models_[k].current && models_[k].attempt.failed ? 1 : 0;
      cleanups += static_cast<int64_t>(models_[k].failed.size());
    }
    RC_ASSERT(report.failed_attempts == attempts);
    RC_ASSERT(report.failed_cleanups == cleanups);
    RC_ASSERT(report.durable == (attempts == 0 && cleanups == 0));
    RC_ASSERT(report.stats.pending == 0);
    RC_ASSERT(report.stats.dropped == 0);
  }

  void compare() {
    int64_t open = 0;
    for (size_t k = 0; k < kKeys; ++k) {
      const std::string key = tier_test::numbered(int(k));
      const auto kept = rig_.store.kept(key);
      RC_ASSERT(kept.has_value() == models_[k].disk.has_value());
      RC_ASSERT(!kept || kept->generated == *models_[k].disk);
      RC_ASSERT(
          rig_.continuations.can_restore(key) == models_[k].can_restore());
      open += models_[k].open() ? 1 : 0;
    }
    RC_ASSERT(rig_.continuations.stats().keys == open);
    RC_ASSERT(rig_.store.claims() == open);
  }

  tier_test::ContinuationRig rig_;
  std::array<tier_test::KeyModel, kKeys> models_;
  std::vector<Live> live_;
  int64_t ids_ = 0;
  int64_t numbers_ = 0;
};

RC_GTEST_PROP(ContinuationsScript, DoWhatThePlainListDoes, ()) {
  const auto script = *events();
  Pair pair;
  for (const Event& event : script) {
    pair.apply(event);
  }
}

TEST(ContinuationsScript, DoWhatThePlainListDoesInLongScripts) {
  EXPECT_TRUE(rc::check([] {
    const auto script = *rc::gen::resize(400, events());
    Pair pair;
    for (const Event& event : script) {
      pair.apply(event);
    }
  }));
}

} // namespace
} // namespace holdfast
