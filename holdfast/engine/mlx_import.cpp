// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/mlx_import.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "holdfast/base/check.h"
#include "holdfast/plan/group.h"
#include "holdfast/rows/chain.h"

namespace holdfast {

namespace {

constexpr size_t kPage = 4096;

std::shared_ptr<std::byte> blank_image(Bytes bytes) {
  const auto size = static_cast<size_t>(bytes.get());
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kPage, size));
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  std::memset(memory, 0, size);
  return {memory, [](std::byte* p) { std::free(p); }};
}

/// Of latent layers: mlx-lm turns pairs of neighbours, holdfast pairs half a
/// head apart.
std::vector<float> paired_by_halves(std::vector<float> vectors, int64_t dim) {
  std::vector<float> one(static_cast<size_t>(dim));
  for (auto at = vectors.begin(); at != vectors.end(); at += dim) {
    for (int64_t i = 0; i < dim / 2; ++i) {
      one[static_cast<size_t>(i)] = at[2 * i];
      one[static_cast<size_t>(i + dim / 2)] = at[2 * i + 1];
    }
    std::ranges::copy(one, at);
  }
  return vectors;
}

class Encoder {
 public:
  Encoder(State& state, const MlxSource& source)
      : state_(state), source_(source), groups_(state.groups()) {
    facts_.committed = source.plan.length;
    facts_.least = source.plan.least;
    for (const LayerGroup& group : groups_.groups()) {
      const auto& starts = group.rule.starts;
      facts_.phases.push_back(
          std::ranges::upper_bound(starts, facts_.committed) - starts.begin());
    }
    const Chain chain = Chain::restored(groups_.rules(), kBlockTokens, facts_);
    for (int64_t g = 0; g < groups_.size(); ++g) {
      const HeldBlocks held = chain.held(g);
      auto& images = images_.emplace_back();
      for (BlockIndex i(0); i < held.end; ++i) {
        images.push_back(
            held.holds(i) ? blank_image(phase(g).layout.bytes()) : nullptr);
      }
    }
  }

  void encode(LayerIndex layer, const MlxLayerCache& cache) {
    const LayerPlace place = groups_.place(layer);
    const LayerGroup& group = groups_.group(place.group);
    if (group.recurrent) {
      encode_recurrent(place, *group.recurrent, cache);
      return;
    }
    const auto& spec = std::get<AttentionSpec>(
        state_.options().layers[static_cast<size_t>(layer.get())]);
    auto keys = read_mlx_channel(source_.file, cache, spec.latent).value();
    if (spec.latent) {
      keys = paired_by_halves(std::move(keys), spec.key_dim);
    }
    encode_channel(place, cache, ChannelRole::kKeys, keys);
    encode_channel(
        place,
        cache,
        ChannelRole::kValues,
        read_mlx_channel(source_.file, cache, !spec.latent).value());
  }

  Snapshot snapshot(std::span<const int32_t> tokens) {
    std::vector<std::vector<BlockRef>> held;
    for (int64_t g = 0; g < groups_.size(); ++g) {
      auto& blocks = held.emplace_back();
      for (auto& image : images_[static_cast<size_t>(g)]) {
        if (image) {
          blocks.push_back(state_.adopt_image(
              g, facts_.phases[static_cast<size_t>(g)], image));
        }
      }
    }
    return state_.assemble(tokens, facts_, held);
  }

 private:
  const GroupPhase& phase(int64_t group) const {
    const int64_t phase = facts_.phases[static_cast<size_t>(group)];
    return groups_.group(group).phases[static_cast<size_t>(phase)];
  }

  /// values: [heads][room][dim].
  void encode_channel(
      const LayerPlace& place,
      const MlxLayerCache& cache,
      ChannelRole role,
      const std::vector<float>& values) {
    const std::vector<int64_t> slots = cache.slots();
    const int64_t end = facts_.committed.get();
    const int64_t first = end - std::ssize(slots);
    const int64_t heads = cache.heads();
    const int64_t room = cache.room();
    const int64_t dim = std::ssize(values) / (heads * room);
    const auto& images = images_[static_cast<size_t>(place.group)];
    std::vector<float> run;
    for (int64_t block = 0; block < std::ssize(images); ++block) {
      const int64_t from = std::max(block * kBlockTokens, first);
      const int64_t to = std::min((block + 1) * kBlockTokens, end);
      std::byte* image = images[static_cast<size_t>(block)].get();
      for (int64_t head = 0; image && from < to && head < heads; ++head) {
        run.clear();
        for (int64_t p = from; p < to; ++p) {
          const int64_t slot = slots[static_cast<size_t>(p - first)];
          const auto at = values.begin() + (head * room + slot) * dim;
          run.insert(run.end(), at, at + dim);
        }
        phase(place.group)
            .codec(role)
            .encode_run(
                role,
                {.first = run.data(),
                 .stride = dim,
                 .count = to - from,
                 .dim = dim},
                from % kBlockTokens,
                phase(place.group).planes(image, place.layer, head, role));
      }
    }
  }

  /// The block that ends at the length: its last inputs, and the state there as
  /// the running one. The boundary is not known, and nobody needs it: no row
  /// goes back into this block (ForeignBits::least).
  void encode_recurrent(
      const LayerPlace& place,
      const RecurrentSpec& spec,
      const MlxLayerCache& cache) {
    const auto inputs = source_.file.read_floats(*cache.tensors[0]).value();
    const auto states = source_.file.read_floats(*cache.tensors[1]).value();
    std::byte* image = images_[static_cast<size_t>(place.group)].back().get();
    for (int64_t head = 0; head < spec.key_heads; ++head) {
      const auto plane = [&](int64_t index) {
        return image +
            phase(place.group).layout.offset(place.layer, head, index).get();
      };
      const int64_t mark = facts_.committed.get();
      std::memcpy(plane(kRecurrentMark), &mark, sizeof(mark));
      auto* to = reinterpret_cast<float*>(plane(kRecurrentInputs)) +
          kBlockTokens * spec.head_width();
      for (int64_t t = 0; t < spec.taps - 1; ++t) {
        put_inputs(
            spec,
            head,
            inputs.data() + t * spec.key_heads * spec.head_width(),
            to + t * spec.head_width());
      }
      put_states(
          spec,
          states.data() + head * spec.sharing() * spec.value_dim * spec.key_dim,
          reinterpret_cast<float*>(plane(kRecurrentRunning)));
    }
  }

  /// from: q of all heads, k, v; to: those of one key head.
  static void put_inputs(
      const RecurrentSpec& spec,
      int64_t head,
      const float* from,
      float* to) {
    const int64_t keys = spec.key_heads * spec.key_dim;
    const int64_t values = spec.sharing() * spec.value_dim;
    to = std::copy_n(from + head * spec.key_dim, spec.key_dim, to);
    to = std::copy_n(from + keys + head * spec.key_dim, spec.key_dim, to);
    std::copy_n(from + 2 * keys + head * values, values, to);
  }

  /// from: [sharing][value_dim][key_dim]; to: strips of columns.
  static void
  put_states(const RecurrentSpec& spec, const float* from, float* to) {
    for (int64_t h = 0; h < spec.sharing(); ++h) {
      for (int64_t left = 0; left < spec.value_dim; left += kStripColumns) {
        const int64_t columns = std::min(kStripColumns, spec.value_dim - left);
        for (int64_t row = 0; row < spec.key_dim; ++row) {
          for (int64_t c = left; c < left + columns; ++c) {
            *to++ = from[c * spec.key_dim + row];
          }
        }
      }
      from += spec.value_dim * spec.key_dim;
    }
  }

  State& state_;
  const MlxSource& source_;
  const LayerGroups& groups_;
  ChainFacts facts_;
  std::vector<std::vector<std::shared_ptr<std::byte>>>
      images_; // [group][block]
};

} // namespace

Snapshot mlx_snapshot(
    State& state,
    const MlxSource& source,
    std::span<const int32_t> tokens,
    const std::function<void(int64_t done, int64_t total)>& progress) {
  if (Position(std::ssize(tokens)) != source.plan.length) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[import] expected the " + std::to_string(source.plan.length.get()) +
            " tokens that the cache holds, got " +
            std::to_string(tokens.size()));
  }
  ensure(
      std::ssize(source.plan.caches) == state.groups().layers(),
      "[import] expected a plan for the state's layers, got another");
  Encoder encoder(state, source);
  const auto total = std::ssize(source.plan.caches);
  for (int64_t layer = 0; layer < total; ++layer) {
    if (const auto cache = source.plan.caches[static_cast<size_t>(layer)]) {
      encoder.encode(LayerIndex(layer), source.cache.layers[*cache]);
    }
    if (progress) {
      progress(layer + 1, total);
    }
  }
  return encoder.snapshot(tokens);
}

} // namespace holdfast
