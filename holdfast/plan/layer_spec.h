// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a model says of one layer's state: its channels, what its queries may
// see, and how scores are shaped. Immutable values; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/plan/recurrent_spec.h"

namespace holdfast {

/// What a query at position p may see of its own sequence: the positions <= p
/// and those of its bidirectional span (rows/bidirectional.h). Of them, with a
/// window, only those > p - window and < p + window, besides the first `sinks`
/// positions.
struct Visibility {
  int64_t window = 0; // positions a query sees, itself included; 0: all
  int64_t sinks = 0; // leading positions that stay visible beside a window
  bool spans = true; // false: positions <= p alone, in spans too

  bool operator==(const Visibility&) const = default;
};

/// Attention of one layer. Query head h reads key-value head
/// h / (query_heads / kv_heads).
struct AttentionSpec {
  int64_t query_heads = 0;
  int64_t kv_heads = 0;
  int64_t key_dim = 0; // whatever the layer's codecs store
  int64_t value_dim = 0; // likewise
  float scale = 1.0f; // scores are scale * q.k
  float softcap = 0.0f; // > 0: softcap * tanh(score / softcap)
  Visibility visibility = {};
  /// Learned sink logits, one a query head, or empty: each joins its head's
  /// softmax as a score without a value.
  std::vector<float> sink_logits = {};
  /// The earlier layer whose keys and values this one reads; it stores none of
  /// its own then. Heads of keys and values and their sizes are the donor's,
  /// and it sees no more than the donor keeps.
  std::optional<LayerIndex> donor = {};
  /// The keys of a position are its value (the latent) and then its key (the
  /// part with a position), and both have one head: queries have value_dim +
  /// key_dim elements in that order. Nothing is stored twice.
  bool latent = false;
  /// The reads that the layer may take, by name ("blocks.1"), in order of
  /// preference; empty: every one of its kind, in the library's order. A state
  /// in which none of them reads the layer is refused when it is built
  /// (kUnsupported), one with a name of no read of its kind kInvalidArgument.
  std::vector<std::string> reads = {};

  /// Elements of a query head.
  int64_t query_dim() const {
    return latent ? value_dim + key_dim : key_dim;
  }
};

/// One layer of a model.
using LayerSpec = std::variant<AttentionSpec, RecurrentSpec>;

} // namespace holdfast
