// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Layer groups: layers with the same channels (codecs, heads, dims) and
// retention share block images, so that a block is released, sealed and moved
// for all of them at once. Immutable value; any thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/block/layout.h"
#include "holdfast/codec/codec.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/rows/chain.h"

namespace holdfast {

/// One layer and how its state is stored.
struct LayerState {
  AttentionSpec attention;
  const Codec* keys = nullptr;
  const Codec* values = nullptr;
};

/// Where a layer's state lies.
struct LayerPlace {
  int64_t group = 0;
  int64_t layer = 0; // within the group
};

struct LayerGroup {
  std::vector<LayerIndex> layers; // in model order
  int64_t kv_heads = 0;
  int64_t key_dim = 0;
  int64_t value_dim = 0;
  const Codec* keys = nullptr;
  const Codec* values = nullptr;
  int64_t key_planes = 0; // a head's planes: these of the keys, then values'
  Retention retention;
  ImageLayout layout;
};

class LayerGroups {
 public:
  /// layers: [layer], at least one. Groups are ordered by their first layer.
  /// Throws kUnsupported where a codec does not fit a head size,
  /// kInvalidArgument where a layer's numbers contradict each other.
  explicit LayerGroups(std::span<const LayerState> layers);

  const std::vector<LayerGroup>& groups() const {
    return groups_;
  }
  const LayerGroup& group(int64_t index) const {
    return groups_.at(static_cast<size_t>(index));
  }
  int64_t size() const {
    return static_cast<int64_t>(groups_.size());
  }
  LayerPlace place(LayerIndex layer) const {
    return places_.at(static_cast<size_t>(layer.get()));
  }
  int64_t layers() const {
    return static_cast<int64_t>(places_.size());
  }
  /// [group], as a BlockPool wants them.
  std::vector<Bytes> image_bytes() const;
  /// [group], as a Chain wants them.
  std::vector<Retention> retentions() const;
  /// Whole images a position of a growing row, windows not yet full, rounded
  /// up.
  Bytes bytes_per_token() const;
  /// The most a row of that many committed positions retains between steps.
  Bytes retained_bytes(Position committed) const;

 private:
  std::vector<LayerGroup> groups_;
  std::vector<LayerPlace> places_; // [layer]
};

} // namespace holdfast
