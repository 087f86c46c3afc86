// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A cache that keeps itself within its part of a SharedRam. Threads: any, one
// call at a time; called with the shared budget's lock held, so that no call
// may ask it for room, and nobody asks with a lock held that a call takes.

#pragma once

#include <cstdint>
#include <optional>

#include "holdfast/base/strong.h"

namespace holdfast {

/// What would leave a cache first.
struct LeavingRam {
  Bytes bytes;
  double pressure = 0; // age x bytes / cost: the highest leaves first
};

/// age: uses of all caches of the budget since its last one. cost: ns to have
/// it again; 0: the disk has it as well, or nobody knows: a nanosecond a byte,
/// about a read.
inline LeavingRam leaving_ram(uint64_t age, Bytes bytes, double cost) {
  return {
      bytes,
      static_cast<double>(age + 1) * static_cast<double>(bytes.get()) /
          (cost > 0 ? cost : static_cast<double>(bytes.get()))};
}

class RamUser {
 public:
  enum class From { kUnused, kEntries };

  virtual ~RamUser() = default;

  /// Of the part; below 0 where what is in use is more than it.
  virtual Bytes unused() = 0;
  /// What may leave, as far as `most`; what is in use may not.
  virtual Bytes may_leave(Bytes most) = 0;
  /// Nothing where nothing may leave. now: the last use of all caches.
  virtual std::optional<LeavingRam> next_to_leave(uint64_t now) = 0;
  /// Makes the part smaller by so many bytes, or fewer: by what is unused, or
  /// first lets entries leave. By how many.
  virtual Bytes give(Bytes wanted, From from) = 0;
  /// Lets entries leave that hold so many bytes, or fewer: how many. The part
  /// stays as it is.
  virtual Bytes let_go(Bytes wanted) = 0;
  /// Makes it larger.
  virtual void take(Bytes more) = 0;
};

} // namespace holdfast
