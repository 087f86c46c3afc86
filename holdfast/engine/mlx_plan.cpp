// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "holdfast/block/layout.h"
#include "holdfast/engine/mlx_import.h"

namespace holdfast {

namespace {

using Kind = MlxLayerCache::Kind;

class Planner {
 public:
  Planner(const MlxCache& cache, std::span<const LayerSpec> layers)
      : cache_(cache), layers_(layers) {}

  MlxPlan plan() {
    require_count();
    size_t next = 0;
    for (const LayerSpec& spec : layers_) {
      const auto* attention = std::get_if<AttentionSpec>(&spec);
      if (attention && attention->donor) {
        plan_.caches.emplace_back();
      } else {
        plan_.caches.emplace_back(next++);
      }
    }
    for (layer_ = 0; layer_ < plan_.caches.size(); ++layer_) {
      if (plan_.caches[layer_]) {
        const MlxLayerCache& cache = cache_.layers[*plan_.caches[layer_]];
        if (const auto* of = std::get_if<AttentionSpec>(&layers_[layer_])) {
          add(*of, cache);
        } else {
          add(std::get<RecurrentSpec>(layers_[layer_]), cache);
        }
      }
    }
    require_boundary();
    return plan_;
  }

 private:
  [[noreturn]] void
  refuse(const std::string& expected, const std::string& got) const {
    throw Error(
        ErrorCode::kUnsupported,
        "[import] layer " + std::to_string(layer_) + ": expected " + expected +
            ", got " + got);
  }

  void require_count() const {
    const auto stores = std::ranges::count_if(layers_, [](const auto& spec) {
      const auto* attention = std::get_if<AttentionSpec>(&spec);
      return !attention || !attention->donor;
    });
    if (stores != std::ssize(cache_.layers)) {
      throw Error(
          ErrorCode::kUnsupported,
          "[import] expected the caches of " + std::to_string(stores) +
              " layers, got " + std::to_string(cache_.layers.size()));
    }
  }

  static std::string shape(int64_t heads, int64_t keys, int64_t values) {
    return std::to_string(heads) + " heads of " + std::to_string(keys) + " / " +
        std::to_string(values);
  }

  void add(const AttentionSpec& spec, const MlxLayerCache& cache) {
    if (cache.kind == Kind::kArrays) {
      refuse("keys and values", "a " + cache.class_name);
    }
    // mlx-lm keeps the latent as keys, and what is turned as values.
    const int64_t keys = spec.latent ? spec.value_dim : spec.key_dim;
    const int64_t values = spec.latent ? spec.key_dim : spec.value_dim;
    if (cache.heads() != spec.kv_heads || cache.dim(false) != keys ||
        cache.dim(true) != values) {
      refuse(
          shape(spec.kv_heads, keys, values) +
              (spec.latent ? " (latents, not expanded)" : ""),
          shape(cache.heads(), cache.dim(false), cache.dim(true)));
    }
    if (seen_ && cache.offset != plan_.length) {
      refuse(
          std::to_string(plan_.length.get()) + " positions as before",
          std::to_string(cache.offset.get()));
    }
    if (cache.offset == Position(0)) {
      refuse("a position or more", "none");
    }
    seen_ = true;
    plan_.length = cache.offset;
    add_window(spec.visibility, cache);
  }

  void add_window(const Visibility& visible, const MlxLayerCache& cache) {
    const int64_t length = cache.offset.get();
    const int64_t first = length - std::ssize(cache.slots());
    if (first == 0) {
      return;
    }
    const int64_t window = visible.window;
    // The next query sees length - window + 1 and later ones.
    if (window == 0 || visible.sinks > 0 || first > length - window + 1) {
      refuse(
          window == 0 ? "all positions"
                      : "the last " + std::to_string(window - 1) +
                  " positions, and sinks where there are some",
          "those from " + std::to_string(first) + " to " +
              std::to_string(length));
    }
    const int64_t block = (length - window + 1) / kBlockTokens * kBlockTokens;
    if (first > block) { // an image lacks positions that a shorter row sees
      plan_.least = std::max(plan_.least, Position(first + window - 1));
    }
  }

  void add(const RecurrentSpec& spec, const MlxLayerCache& cache) {
    using Shape = std::vector<int64_t>;
    if (cache.kind != Kind::kArrays) {
      refuse("a recurrent state", "a " + cache.class_name);
    }
    const Shape inputs{1, spec.taps - 1, spec.key_heads * spec.head_width()};
    const Shape states{1, spec.value_heads, spec.value_dim, spec.key_dim};
    if (cache.tensors[0]->shape != inputs ||
        cache.tensors[1]->shape != states) {
      refuse("the inputs and states of its shapes", "others");
    }
    recurrent_ = true;
  }

  void require_boundary() {
    if (!seen_) {
      throw Error(
          ErrorCode::kUnsupported,
          "[import] expected a layer of attention, which says the length, got "
          "none");
    }
    if (!recurrent_) {
      return;
    }
    const int64_t within = plan_.length.get() % kBlockTokens;
    if (within != 0) {
      throw Error(
          ErrorCode::kUnsupported,
          "[import] expected a multiple of 64 positions where layers are "
          "recurrent, for the state at a block's begin is not in such files, "
          "got " +
              std::to_string(plan_.length.get()));
    }
    plan_.least = plan_.length;
  }

  const MlxCache& cache_;
  const std::span<const LayerSpec> layers_;
  size_t layer_ = 0;
  bool seen_ = false;
  bool recurrent_ = false;
  MlxPlan plan_;
};

} // namespace

Result<MlxPlan>
plan_mlx_import(const MlxCache& cache, std::span<const LayerSpec> layers) {
  try {
    return Planner(cache, layers).plan();
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
