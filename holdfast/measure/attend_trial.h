// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Attention measured turn by turn beside what bounds it. The best of all turns
// counts, because neighbours on the machine only ever slow one down. One
// thread.

#pragma once

#include <cstdint>
#include <limits>

#include "holdfast/measure/attend_rows.h"

namespace holdfast::measure {

/// One token a row at the end of full chains, beside a loop that reads the same
/// bytes, and beside other rows of the same shape, usually bf16.
class DecodeTrial {
 public:
  DecodeTrial(
      AttendCopies& rows,
      AttendCopies& others,
      const AttendMachine& machine)
      : rows_(rows), others_(others), machine_(machine) {}

  /// Seconds that the rows' step took.
  double turn();

  /// Best seconds of a step of a copy of the rows.
  double step_seconds() const {
    return best_ / static_cast<double>(rows_.turn());
  }
  /// Stored keys and values that a step reads, in bytes a second.
  double rate() const {
    return static_cast<double>(rows_.bytes()) / step_seconds();
  }
  /// The same of the loop that only reads.
  double read_rate() const {
    return static_cast<double>(rows_.bytes() * rows_.turn()) / best_read_;
  }
  double share_of_read() const {
    return best_read_ / best_;
  }
  double positions_rate() const {
    return static_cast<double>(rows_.batch().rows * rows_.batch().positions) /
        step_seconds();
  }
  /// How often this step fits into the others'.
  double times_others() const {
    return best_others_ / static_cast<double>(others_.turn()) / step_seconds();
  }

 private:
  AttendCopies& rows_;
  AttendCopies& others_;
  AttendMachine machine_;
  double best_ = std::numeric_limits<double>::infinity();
  double best_read_ = best_;
  double best_others_ = best_;
};

/// A row's tokens from `start` on, beside products that never leave the
/// registers.
class PrefillTrial {
 public:
  PrefillTrial(
      const AttendShape& shape,
      int64_t start,
      int64_t tokens,
      const AttendMachine& machine);

  /// Seconds that the tokens took.
  double turn();

  double step_seconds() const {
    return best_;
  }
  /// Floating-point operations over visible pairs, a second, of all threads.
  double rate() const {
    return operations_ / best_;
  }
  double register_rate() const {
    return best_registers_;
  }

 private:
  AttendRows rows_;
  int64_t start_, tokens_;
  AttendMachine machine_;
  double operations_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
  double best_registers_ = 0;
};

} // namespace holdfast::measure
