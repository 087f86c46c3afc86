// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a device keeps of what was not synced when the power fails. A value, and
// the draws that follow from it: equal for equal seeds. Any thread.

#pragma once

#include <cstdint>

#include "holdfast/env/memory_bytes.h"

namespace holdfast {

struct PowerLoss {
  enum class Keep {
    kNothing, // no byte and no name that was not synced
    kEverything, // as when the process alone dies
    kSome, // drawn: of every sector some earlier state, of the names some
    kTornPrefix, // everything but an end of each file's last change
    kTornSectors, // everything but some sectors of each file's last change
  };
  Keep keep = Keep::kNothing;
  uint64_t seed = 0;
};

/// A number that depends on both and looks like chance.
uint64_t draw(uint64_t seed, uint64_t what);

/// Which changes of `file` survive; `number` tells it from other files.
MemoryBytes::Survives
survival(PowerLoss loss, uint64_t number, const MemoryBytes& file);

/// What becomes of the names' changes: `number` of `changes`, in their order.
/// A change that does not survive also undoes those that build on it.
bool name_survives(PowerLoss loss, int64_t number, int64_t changes);

} // namespace holdfast
