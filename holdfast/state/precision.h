// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How a state stores its layers: one list of phases for all, and others for
// single layers. Values; any thread.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "holdfast/codec/codec_names.h"
#include "holdfast/plan/group.h"

namespace holdfast {

/// From the first position on, and never otherwise.
inline std::vector<LayerPhase> always(const Codec* keys, const Codec* values) {
  return {{.keys = keys, .values = values, .start = Position(0)}};
}

/// "bf16, then q8/t3 from 1024".
inline std::string describe(const std::vector<LayerPhase>& phases) {
  std::string text;
  for (const LayerPhase& phase : phases) {
    text +=
        (text.empty() ? "" : ", then ") + names_of(*phase.keys, *phase.values);
    if (phase.start > Position(0)) {
      text += " from " + std::to_string(phase.start.get());
    }
  }
  return text;
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
