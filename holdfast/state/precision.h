// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How a state stores its layers: one list of phases for all, and others for
// single layers. Values; any thread.

#pragma once

#include <map>
#include <vector>

#include "holdfast/plan/group.h"

namespace holdfast {

/// From the first position on, and never otherwise.
inline std::vector<LayerPhase> always(const Codec* keys, const Codec* values) {
  return {{.keys = keys, .values = values, .start = Position(0)}};
}

struct Precision {
  std::vector<LayerPhase> phases; // of layers not named below
  std::map<int64_t, std::vector<LayerPhase>> layers = {}; // by layer

  const std::vector<LayerPhase>& of(int64_t layer) const {
    const auto own = layers.find(layer);
    return own == layers.end() ? phases : own->second;
  }
};

} // namespace holdfast
