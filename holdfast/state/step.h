// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One forward over ragged rows: what a model author meets.
//
// begin -> positions, attend per layer -> commit. Not committed: nothing
// happened. Arrays made within a step refuse to be evaluated after its end
// (kStale), so a captured view can never show another step's bytes.
//
// Threads: the engine thread alone.

#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "mlx/array.h"

#include "holdfast/base/strong.h"
#include "holdfast/kernels/cpu/gated_delta.h"
#include "holdfast/rows/batch.h"

namespace holdfast {

class Step {
 public:
  Step(Step&&) noexcept;
  Step& operator=(Step&&) = delete;
  /// Rolls back unless committed.
  ~Step();

  /// T, the tokens of all rows.
  int64_t tokens() const;
  /// The stream on which this state's arrays are made.
  mlx::core::Stream stream() const;
  /// Absolute positions, [T] int32.
  const mlx::core::array& positions() const;
  /// The step's tokens as an array of its graph, [T] int32: made at the first
  /// call, and the same from there on. Throws kInvalidArgument for another
  /// number.
  mlx::core::array token_ids(std::span<const int32_t> ids) const;
  /// Appends k [T, Hkv, D], v [T, Hkv, Dv] to the rows' open blocks and reads
  /// their chains with q [T, Hq, D]; all f32, strided ones are copied. Returns
  /// [T, Hq, Dv] f32. Once a layer; throws on other shapes.
  mlx::core::array attend(
      LayerIndex layer,
      const mlx::core::array& q,
      const mlx::core::array& k,
      const mlx::core::array& v);
  /// The same for a layer with a donor: reads the donor's chains, this step's
  /// positions included, with q [T, Hq, D], and appends nothing. After the
  /// donor's attend; a step may leave such a layer out.
  mlx::core::array attend_donor(LayerIndex layer, const mlx::core::array& q);
  /// The same for a recurrent layer (docs/recurrent.md): inputs [T,
  /// spec.input_width()] f32, q, k, v, z, b and a side by side, copied where
  /// strided. Returns [T, spec.output_width()] f32.
  mlx::core::array recur(
      LayerIndex layer,
      const std::shared_ptr<const cpu::GatedDelta>& weights,
      const mlx::core::array& inputs);
  /// Evaluates the last layer's output unless that is done, requires that every
  /// layer that stores has been written (one that the last does not depend on
  /// must have been evaluated before), and keeps the first accepted[i] tokens
  /// of the i-th row, 0 to its count. Throws, rolled back, where a layer failed
  /// (what its task threw), had failed in an earlier evaluation (kStale with
  /// the text) or was left out. A sibling's failure on their stream is none of
  /// this step's, unless its layers ran behind it. kCorrupt: a stored image
  /// that it read was cut short (State::intact). Wrong counts, and such as keep
  /// a bidirectional span in part, throw kInvalidArgument; the step stays open.
  void commit(std::span<const int64_t> accepted);
  /// All tokens of all rows.
  void commit_all();
  void rollback();

 private:
  friend class State;
  friend class StepGraph;
  struct Impl;
  explicit Step(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace holdfast
