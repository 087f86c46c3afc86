// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Layer groups: layers with the same channels (heads, dims, codecs of every
// phase) and retention share block images, so that a block is released, sealed,
// converted and moved for all of them at once. Immutable value; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/block/layout.h"
#include "holdfast/codec/codec.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/rows/chain.h"

namespace holdfast {

/// How a layer is stored from `start` committed positions on.
struct LayerPhase {
  const Codec* keys = nullptr;
  const Codec* values = nullptr;
  Position start{0}; // of the first phase 0; rising
};

/// One layer and how its state is stored: attention in one phase or more; a
/// recurrent layer as its spec says, without codecs.
struct LayerState {
  AttentionSpec attention;
  std::vector<LayerPhase> phases;
  std::optional<RecurrentSpec> recurrent = {};
  /// Of a recurrent layer: GroupRule::keep_every.
  int64_t keep_every = 0;
};

/// Where a layer's state lies; of a layer with a donor, the donor's.
struct LayerPlace {
  int64_t group = 0;
  int64_t layer = 0; // within the group
};

/// A group's images in one phase. Of a recurrent group: its layout alone.
struct GroupPhase {
  const Codec* keys = nullptr;
  const Codec* values = nullptr;
  int64_t key_planes = 0; // a head's planes: these of the keys, then values'
  int64_t value_planes = 0;
  ImageLayout layout;

  const Codec& codec(ChannelRole role) const {
    return role == ChannelRole::kKeys ? *keys : *values;
  }
  /// The planes of a layer's head inside an image. `layer` counts within the
  /// group.
  template <class Byte>
  std::vector<Byte*>
  planes(Byte* image, int64_t layer, int64_t head, ChannelRole role) const {
    const bool of_keys = role == ChannelRole::kKeys;
    std::vector<Byte*> result;
    for (int64_t i = 0; i < (of_keys ? key_planes : value_planes); ++i) {
      const int64_t plane = of_keys ? i : key_planes + i;
      result.push_back(image + layout.offset(layer, head, plane).get());
    }
    return result;
  }
};

struct LayerGroup {
  std::vector<LayerIndex> layers; // in model order
  int64_t kv_heads = 0;
  int64_t key_dim = 0;
  int64_t value_dim = 0;
  std::vector<GroupPhase> phases;
  GroupRule rule;
  std::optional<RecurrentSpec> recurrent = {};
};

class LayerGroups {
 public:
  /// layers: [layer], at least one. Groups are ordered by their first layer.
  /// Throws kUnsupported where a codec does not fit a head size,
  /// kInvalidArgument where a layer's numbers or phases contradict each other.
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
  /// False where the layer has a donor.
  bool stores(LayerIndex layer) const {
    const LayerPlace at = place(layer);
    const auto& layers = group(at.group).layers;
    return layers[static_cast<size_t>(at.layer)] == layer;
  }
  /// A kind a group and phase, as a BlockPool wants them.
  std::vector<Bytes> image_bytes() const;
  /// [group], as a Chain wants them.
  std::vector<GroupRule> rules() const;
  /// Whole images a position of a growing row in its last phases, windows not
  /// yet full, rounded up. Recurrent layers do not grow.
  Bytes bytes_per_token() const;

 private:
  std::vector<LayerGroup> groups_;
  std::vector<LayerPlace> places_; // [layer]
};

} // namespace holdfast
