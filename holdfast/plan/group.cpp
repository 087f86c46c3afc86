// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/group.h"

#include <algorithm>
#include <string>
#include <utility>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"

namespace holdfast {

namespace {

void require_sound(const LayerState& layer, size_t index) {
  const AttentionSpec& spec = layer.attention;
  const bool sound = spec.kv_heads > 0 && spec.query_heads > 0 &&
      spec.query_heads % spec.kv_heads == 0 && spec.key_dim > 0 &&
      spec.value_dim > 0 && spec.visibility.window >= 0 &&
      spec.visibility.sinks >= 0 &&
      (spec.sink_logits.empty() ||
       static_cast<int64_t>(spec.sink_logits.size()) == spec.query_heads) &&
      layer.keys && layer.values;
  if (!sound) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[groups] expected query heads a multiple of kv heads, positive dims, "
        "a window and sinks >= 0, a sink logit a query head or none, and two "
        "codecs, got something else in layer " +
            std::to_string(index));
  }
  for (const Status& status :
       {layer.keys->supports(ChannelRole::kKeys, spec.key_dim),
        layer.values->supports(ChannelRole::kValues, spec.value_dim)}) {
    if (!status.ok()) {
      throw Error(
          status.code(),
          "[groups] expected codecs that fit layer " + std::to_string(index) +
              ", got one that does not: " + status.text());
    }
  }
}

/// Without a window everything is kept, sinks or not.
Retention retention_of(const Visibility& visibility) {
  return visibility.window == 0
      ? Retention{}
      : Retention{.window = visibility.window, .sinks = visibility.sinks};
}

bool belongs(const LayerState& layer, const LayerGroup& group) {
  const AttentionSpec& spec = layer.attention;
  return spec.kv_heads == group.kv_heads && spec.key_dim == group.key_dim &&
      spec.value_dim == group.value_dim &&
      layer.keys->id() == group.keys->id() &&
      layer.values->id() == group.values->id() &&
      retention_of(spec.visibility) == group.retention;
}

/// The planes of one head: the keys', then the values'.
LayerPlanes planes_of(const LayerState& layer) {
  const AttentionSpec& spec = layer.attention;
  LayerPlanes result{
      .heads = spec.kv_heads,
      .planes = layer.keys->planes(ChannelRole::kKeys, spec.key_dim)};
  for (PlaneSpec& plane :
       layer.values->planes(ChannelRole::kValues, spec.value_dim)) {
    result.planes.push_back(std::move(plane));
  }
  return result;
}

LayerGroup group_like(const LayerState& layer) {
  const AttentionSpec& spec = layer.attention;
  const auto keys = layer.keys->planes(ChannelRole::kKeys, spec.key_dim);
  return {
      .layers = {},
      .kv_heads = spec.kv_heads,
      .key_dim = spec.key_dim,
      .value_dim = spec.value_dim,
      .keys = layer.keys,
      .values = layer.values,
      .key_planes = static_cast<int64_t>(keys.size()),
      .retention = retention_of(spec.visibility),
      .layout = ImageLayout({planes_of(layer)})};
}

} // namespace

LayerGroups::LayerGroups(std::span<const LayerState> layers) {
  expect(!layers.empty(), "[groups] expected at least one layer, got none");
  for (size_t index = 0; index < layers.size(); ++index) {
    const LayerState& layer = layers[index];
    require_sound(layer, index);
    auto group = std::find_if(
        groups_.begin(), groups_.end(), [&](const LayerGroup& candidate) {
          return belongs(layer, candidate);
        });
    if (group == groups_.end()) {
      group = groups_.insert(group, group_like(layer));
    }
    places_.push_back(
        {.group = group - groups_.begin(),
         .layer = static_cast<int64_t>(group->layers.size())});
    group->layers.push_back(LayerIndex(static_cast<int64_t>(index)));
  }
  for (LayerGroup& group : groups_) {
    const auto first = static_cast<size_t>(group.layers.front().get());
    group.layout = ImageLayout(std::vector<LayerPlanes>(
        group.layers.size(), planes_of(layers[first])));
  }
}

std::vector<Bytes> LayerGroups::image_bytes() const {
  std::vector<Bytes> result;
  for (const LayerGroup& group : groups_) {
    result.push_back(group.layout.bytes());
  }
  return result;
}

std::vector<Retention> LayerGroups::retentions() const {
  std::vector<Retention> result;
  for (const LayerGroup& group : groups_) {
    result.push_back(group.retention);
  }
  return result;
}

Bytes LayerGroups::bytes_per_token() const {
  Bytes sum;
  for (const LayerGroup& group : groups_) {
    sum += group.layout.bytes();
  }
  return Bytes(ceil_div(sum.get(), kBlockTokens));
}

Bytes LayerGroups::retained_bytes(Position committed) const {
  Chain chain(retentions(), kBlockTokens);
  if (committed > Position(0)) {
    chain.append(committed.get());
    chain.commit(committed.get());
  }
  int64_t bytes = 0;
  for (int64_t index = 0; index < size(); ++index) {
    bytes += chain.held(index).count() * group(index).layout.bytes().get();
  }
  return Bytes(bytes);
}

} // namespace holdfast
