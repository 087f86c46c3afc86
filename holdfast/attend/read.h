// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How attention reads chains. A read appends a step's keys and values to the
// rows' open blocks and attends over the chains. A layer's read is chosen once,
// when its state is built: of those that its spec permits, the first that
// supports the layer.
//
// Threads: supports() any; attend() the engine thread. Stateless.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mlx/array.h"
#include "mlx/stream.h"

#include "holdfast/env/runtime.h"
#include "holdfast/kernels/cpu/layer_task.h"
#include "holdfast/plan/group.h"
#include "holdfast/plan/layer_spec.h"

namespace holdfast {

/// One layer's part of a state. Lives as long as the state.
struct LayerRead {
  AttentionSpec spec;
  std::vector<GroupPhase> phases; // of its group, or of its donor's
  int64_t layer = 0; // in the model
  int64_t group = 0;
  int64_t layer_in_group = 0;
  Runtime runtime;
};

/// q [T, Hq, D], k [T, Hkv, D], v [T, Hkv, Dv], all f32; of a latent layer q
/// [T, Hq, Dv + D].
struct Qkv {
  mlx::core::array q;
  mlx::core::array k;
  mlx::core::array v;
};

/// q [T, Hq, D] f32 and the output of the donor.
struct Queries {
  mlx::core::array q;
  mlx::core::array source;
};

class Read {
 public:
  virtual ~Read() = default;

  /// Persisted in the signature: "blocks.1".
  virtual std::string name() const = 0;
  /// Ok where it covers every phase of the layer; else kUnsupported with the
  /// reason.
  virtual Status supports(const LayerRead& layer) const = 0;
  /// True where the graph of attend() is the same for all steps of as many
  /// tokens: the plan is looked at when it runs, and not before.
  virtual bool replays() const = 0;
  /// One lazy operation: [T, Hq, Dv] f32.
  virtual mlx::core::array attend(
      const std::shared_ptr<const LayerRead>& layer,
      const cpu::StepHandle& step,
      const Qkv& inputs,
      mlx::core::Stream stream) const = 0;
  /// The same over a donor's keys and values, without append. `source`, the
  /// donor's output of this step, is an input of the operation, so that the
  /// donor's task has run before.
  virtual mlx::core::array attend_donor(
      const std::shared_ptr<const LayerRead>& layer,
      const cpu::StepHandle& step,
      const Queries& inputs,
      mlx::core::Stream stream) const = 0;
};

/// Our kernels over encoded blocks.
const Read& block_read();
/// Latent channels, decoded block by block, in one order for all chunks.
const Read& latent_read();
/// Decodes to dense arrays and attends with MLX's own operations: the oracle.
/// It supports everything; its bits are MLX's, so they may depend on the chunk.
const Read& reference_read();

/// The reads of the layer's kind, in order of preference.
std::span<const Read* const> reads_for(const LayerRead& layer);

struct Selection {
  const Read* read = nullptr;
  std::string why; // "blocks.1", or with why the earlier ones were not taken
};
/// The first read that the spec permits and that supports the layer; the
/// reference where asked for. Throws kInvalidArgument where the spec names a
/// read that is none of the layer's kind, kUnsupported, with the layer, its
/// codecs and each read that it permits, where none of those will do.
Selection select_read(const LayerRead& layer, bool reference);

} // namespace holdfast
