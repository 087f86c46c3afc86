// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/measure/attend_trial.h"

#include <algorithm>

#include "holdfast/measure/machine_rate.h"
#include "holdfast/measure/seconds.h"

namespace holdfast::measure {

double DecodeTrial::turn() {
  const auto step = [&](AttendCopies& copies) {
    const int64_t start = copies.batch().positions - 1;
    return time_of([&] {
      copies.take_turn(
          [&](AttendRows& rows) { rows.attend(start, 1, machine_); });
    });
  };
  const double time = step(rows_);
  best_ = std::min(best_, time);
  best_read_ = std::min(
      best_read_, time_of([&] {
        rows_.take_turn([&](AttendRows& rows) {
          read_pieces(rows.images(), rows.image_bytes(), *machine_.team);
        });
      }));
  best_others_ = std::min(best_others_, step(others_));
  return time;
}

PrefillTrial::PrefillTrial(
    const AttendShape& shape,
    int64_t start,
    int64_t tokens,
    const AttendMachine& machine)
    : rows_(shape, {.rows = 1, .positions = start + tokens}),
      start_(start),
      tokens_(tokens),
      machine_(machine) {
  // A product and a sum for each element of a key, and of a value.
  const int64_t each = 4 * shape.dim * shape.query_heads;
  for (int64_t p = start; p < start + tokens; ++p) {
    const int64_t seen =
        shape.window > 0 ? std::min(shape.window, p + 1) : p + 1;
    operations_ += static_cast<double>(seen * each);
  }
}

double PrefillTrial::turn() {
  const double time = time_of([&] { rows_.attend(start_, tokens_, machine_); });
  best_ = std::min(best_, time);
  best_registers_ = std::max(
      best_registers_, measure::register_rate(machine_.path, *machine_.team));
  return time;
}

} // namespace holdfast::measure
