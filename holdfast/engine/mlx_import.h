// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A prompt cache of mlx-lm as a row's state: its keys and values are encoded
// with the state's codecs. Its bits are another engine's, so the state must be
// one of foreign bits (state/foreign_bits.h).
//
// What cannot be a whole state is refused, naming the layer: a window whose
// start was lost, a recurrent state within a block. Engine thread.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/formats/mlx_cache.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/state/snapshot.h"
#include "holdfast/state/state.h"

namespace holdfast {

/// How a cache fits a model.
struct MlxPlan {
  Position length; // positions that it holds the state of
  Position least; // ForeignBits::least: shorter prefixes are not whole
  std::vector<std::optional<size_t>> caches; // [layer] its index; none: a donor
};

/// kUnsupported or kCorrupt, naming the layer, where it does not.
Result<MlxPlan>
plan_mlx_import(const MlxCache& cache, std::span<const LayerSpec> layers);

struct MlxSource {
  const SafetensorsFile& file;
  const MlxCache& cache;
  const MlxPlan& plan; // for the state's layers
};

/// tokens: as many as the plan's length (kInvalidArgument). Throws what the
/// file says, kOutOfBudget. progress: layers done, layers in all.
Snapshot mlx_snapshot(
    State& state,
    const MlxSource& source,
    std::span<const int32_t> tokens,
    const std::function<void(int64_t done, int64_t total)>& progress = nullptr);

} // namespace holdfast
