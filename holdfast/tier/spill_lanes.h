// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The order of waiting jobs: a lane for each key, of which one job runs at a
// time, and the classes of the lanes that may go next taken in turn, so that no
// class keeps another from the writers.
//
// Threads: none of its own; SpillQueue's lock guards it. A lane lives as long
// as it has a job: keys leave nothing behind.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "holdfast/tier/spill_job.h"

namespace holdfast {

struct WaitingJob {
  SpillJob job;
  uint64_t sequence = 0; // order of admission
};

class SpillLanes {
 public:
  using Predicate = std::function<bool(const SpillJob&)>;
  /// Lists, so that jobs move by their links.
  using Jobs = std::list<WaitingJob>;

  void push(WaitingJob waiting);
  /// The job that goes next, if one may; its lane is held until release().
  std::optional<WaitingJob> take();
  void release(const std::string& key);
  /// Takes out the waiting jobs that `wanted` names.
  Jobs extract(const Predicate& wanted);
  /// The same of one key, at the price of that key alone.
  Jobs extract(const std::string& key, const Predicate& wanted);

  /// Keys with a waiting or running job.
  size_t lanes() const {
    return lanes_.size();
  }

 private:
  struct Lane;
  using Ready = std::list<Lane*>;
  struct Lane {
    Jobs waiting;
    bool held = false;
    Ready::iterator place; // among the ready; only where `listed`
    std::optional<size_t> listed; // the class under which it is ready
  };
  using Map = std::unordered_map<std::string, Lane>;

  void list(Lane& lane);
  void unlist(Lane& lane);
  /// After waiting jobs left the lane: lists it again; the next lane.
  Map::iterator settle(Map::iterator at);
  static void move_wanted(Lane& lane, const Predicate& wanted, Jobs& out);

  Map lanes_;
  std::array<Ready, kJobClasses> ready_;
  size_t turn_ = 0; // the class that is asked first
};

} // namespace holdfast
