// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a model says of a recurrent layer (causal convolution, then the gated
// delta rule), and where its state lies in a block image.
//
// A block of such a layer holds the state at its first position and the inputs
// of its positions, so that the state at any position within it follows from it
// alone. docs/recurrent.md gives the arithmetic. Immutable values; any thread.

#pragma once

#include <cstdint>

#include "holdfast/base/status.h"
#include "holdfast/block/layout.h"

namespace holdfast {

/// Gated delta rule with a causal convolution before it. Value head h works
/// with key head h / (value_heads / key_heads).
struct RecurrentSpec {
  int64_t key_heads = 0;
  int64_t value_heads = 0;
  int64_t key_dim = 0; // a multiple of 16
  int64_t value_dim = 0; // a multiple of 16
  int64_t taps = 0; // positions that the convolution sees, itself included

  bool operator==(const RecurrentSpec&) const = default;

  /// Value heads that share a key head.
  int64_t sharing() const {
    return value_heads / key_heads;
  }
  /// Convolved channels of one key head: its q, k and the v of its value heads.
  int64_t head_width() const {
    return 2 * key_dim + sharing() * value_dim;
  }
  /// Floats of one state of one key head's value heads.
  int64_t head_state() const {
    return sharing() * key_dim * value_dim;
  }
  /// Columns of a token's input: q, k, v of all heads, then z, b, a.
  int64_t input_width() const {
    return key_heads * head_width() + value_heads * (value_dim + 2);
  }
  /// Columns of a token's output.
  int64_t output_width() const {
    return value_heads * value_dim;
  }
};

/// Ok, or kInvalidArgument / kUnsupported saying what does not fit.
Status check_recurrent(const RecurrentSpec& spec);

/// The planes of one key head, all f32 but the first.
enum RecurrentPlane : int64_t {
  kRecurrentMark, // [8] int64: [0] the position of the running state
  kRecurrentInputs, // [taps - 1 + 64][head_width]: q, k, v before convolution
  kRecurrentGates, // [64][sharing][2]: decay, beta
  kRecurrentBoundary, // [sharing] states, at the block's first position
  kRecurrentRunning, // the same, at the marked position
};

/// A state is cut into strips of so many columns (the last may be narrower),
/// one after the other, each [key_dim][columns].
inline constexpr int64_t kStripColumns = 64;

/// "Heads" of the image are key heads.
LayerPlanes recurrent_planes(const RecurrentSpec& spec);

/// What a chain keeps: a step at position p needs the block of position p - 1.
/// Beside it, one block in GroupRule::keep_every, to which a trim may go back.
inline constexpr int64_t kRecurrentWindow = 2;

} // namespace holdfast
