// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/group.h"

#include <algorithm>
#include <string>
#include <utility>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/plan/layer_bounds.h"

namespace holdfast {

namespace {

bool sound_phases(const std::vector<LayerPhase>& phases) {
  for (size_t i = 0; i < phases.size(); ++i) {
    const LayerPhase& phase = phases[i];
    const bool in_order =
        i == 0 ? phase.start == Position(0) : phase.start > phases[i - 1].start;
    if (!phase.keys || !phase.values || !in_order) {
      return false;
    }
  }
  return !phases.empty();
}

void require_sound(const LayerState& layer, size_t index) {
  if (layer.recurrent) {
    if (const Status status = check_recurrent(*layer.recurrent); !status.ok()) {
      throw Error(
          status.code(),
          "[groups] layer " + std::to_string(index) + ": " + status.text());
    }
    return;
  }
  const AttentionSpec& spec = layer.attention;
  const auto within = [](int64_t number, int64_t most) {
    return number > 0 && number <= most;
  };
  const bool sound = within(spec.query_heads, kMaxHeads) &&
      within(spec.kv_heads, spec.query_heads) &&
      spec.query_heads % spec.kv_heads == 0 &&
      within(spec.key_dim, kMaxHeadDim) &&
      within(spec.value_dim, kMaxHeadDim) &&
      (!spec.latent || spec.kv_heads == 1) && in_range(spec.visibility) &&
      (spec.sink_logits.empty() ||
       static_cast<int64_t>(spec.sink_logits.size()) == spec.query_heads) &&
      (spec.donor || sound_phases(layer.phases));
  if (!sound) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[groups] expected query heads a multiple of kv heads, one of a "
        "latent, positive dims, heads and dims of at most 65536, a window and "
        "sinks from 0 (a window of 0 sees all) to 2147483647, a sink logit a "
        "query head or none, and phases of two codecs that start at 0 and "
        "rise, got something else in layer " +
            std::to_string(index));
  }
  for (const LayerPhase& phase : layer.phases) {
    for (const Status& status :
         {phase.keys->supports(ChannelRole::kKeys, spec.key_dim),
          phase.values->supports(ChannelRole::kValues, spec.value_dim)}) {
      if (!status.ok()) {
        throw Error(
            status.code(),
            "[groups] expected codecs that fit layer " + std::to_string(index) +
                ", got one that does not: " + status.text());
      }
    }
  }
}

/// Without a window everything is kept, sinks or not.
GroupRule rule_of(const LayerState& layer) {
  if (layer.recurrent) {
    return {.window = kRecurrentWindow, .keep_every = layer.keep_every};
  }
  const Visibility& visibility = layer.attention.visibility;
  GroupRule rule;
  if (visibility.window > 0) {
    rule = {.window = visibility.window, .sinks = visibility.sinks};
  }
  for (size_t i = 1; i < layer.phases.size(); ++i) {
    rule.starts.push_back(layer.phases[i].start);
  }
  return rule;
}

bool belongs(const LayerState& layer, const LayerGroup& group) {
  if (layer.recurrent || group.recurrent) {
    return layer.recurrent == group.recurrent && rule_of(layer) == group.rule;
  }
  const AttentionSpec& spec = layer.attention;
  return spec.kv_heads == group.kv_heads && spec.key_dim == group.key_dim &&
      spec.value_dim == group.value_dim && rule_of(layer) == group.rule &&
      std::equal(
             layer.phases.begin(),
             layer.phases.end(),
             group.phases.begin(),
             group.phases.end(),
             [](const LayerPhase& a, const GroupPhase& b) {
               return a.keys->id() == b.keys->id() &&
                   a.values->id() == b.values->id();
             });
}

/// The images of `layers` layers in that phase: a head's planes are the keys',
/// then the values'.
GroupPhase
phase_of(const LayerPhase& phase, const AttentionSpec& spec, size_t layers) {
  const auto keys = phase.keys->planes(ChannelRole::kKeys, spec.key_dim);
  const auto values =
      phase.values->planes(ChannelRole::kValues, spec.value_dim);
  LayerPlanes planes{.heads = spec.kv_heads, .planes = keys};
  planes.planes.insert(planes.planes.end(), values.begin(), values.end());
  return {
      .keys = phase.keys,
      .values = phase.values,
      .key_planes = std::ssize(keys),
      .value_planes = std::ssize(values),
      .layout = ImageLayout(std::vector<LayerPlanes>(layers, planes))};
}

std::vector<GroupPhase> phases_of(const LayerState& layer, size_t layers) {
  std::vector<GroupPhase> result;
  if (layer.recurrent) {
    result.push_back(
        {.layout = ImageLayout(std::vector<LayerPlanes>(
             layers, recurrent_planes(*layer.recurrent)))});
    return result;
  }
  for (const LayerPhase& phase : layer.phases) {
    result.push_back(phase_of(phase, layer.attention, layers));
  }
  return result;
}

LayerGroup group_like(const LayerState& layer) {
  const AttentionSpec& spec = layer.attention;
  return {
      .layers = {},
      .kv_heads = spec.kv_heads,
      .key_dim = spec.key_dim,
      .value_dim = spec.value_dim,
      .phases = phases_of(layer, 1),
      .rule = rule_of(layer),
      .recurrent = layer.recurrent};
}

void require_donor(std::span<const LayerState> layers, size_t index) {
  const AttentionSpec& spec = layers[index].attention;
  const int64_t of = spec.donor->get();
  const bool there = of >= 0 && of < static_cast<int64_t>(index) &&
      !layers[static_cast<size_t>(of)].recurrent &&
      !layers[static_cast<size_t>(of)].attention.donor;
  const AttentionSpec donor =
      there ? layers[static_cast<size_t>(of)].attention : AttentionSpec{};
  const Visibility& seen = spec.visibility;
  const Visibility& kept = donor.visibility;
  const bool fits = there && spec.kv_heads == donor.kv_heads &&
      spec.key_dim == donor.key_dim && spec.value_dim == donor.value_dim &&
      spec.latent == donor.latent &&
      (kept.window == 0 ||
       (seen.window > 0 && seen.window <= kept.window &&
        seen.sinks <= kept.sinks));
  if (!fits) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[groups] expected a donor of layer " + std::to_string(index) +
            " that is an earlier layer with keys and values of its own, of the "
            "same heads and sizes, and keeps what the layer sees, got layer " +
            std::to_string(of));
  }
}

} // namespace

LayerGroups::LayerGroups(std::span<const LayerState> layers) {
  expect(!layers.empty(), "[groups] expected at least one layer, got none");
  for (size_t index = 0; index < layers.size(); ++index) {
    const LayerState& layer = layers[index];
    require_sound(layer, index);
    if (layer.attention.donor) {
      require_donor(layers, index);
      places_.push_back(place(*layer.attention.donor));
      continue;
    }
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
    group.phases = phases_of(layers[first], group.layers.size());
  }
}

std::vector<Bytes> LayerGroups::image_bytes() const {
  std::vector<Bytes> result;
  for (const LayerGroup& group : groups_) {
    for (const GroupPhase& phase : group.phases) {
      result.push_back(phase.layout.bytes());
    }
  }
  return result;
}

std::vector<GroupRule> LayerGroups::rules() const {
  std::vector<GroupRule> result;
  for (const LayerGroup& group : groups_) {
    result.push_back(group.rule);
  }
  return result;
}

Bytes LayerGroups::bytes_per_token() const {
  Bytes sum;
  for (const LayerGroup& group : groups_) {
    const Bytes image = group.phases.back().layout.bytes();
    if (!group.recurrent) {
      sum += image;
    } else if (group.rule.keep_every > 0) {
      sum += Bytes(ceil_div(image.get(), group.rule.keep_every));
    }
  }
  return Bytes(ceil_div(sum.get(), kBlockTokens));
}

} // namespace holdfast
