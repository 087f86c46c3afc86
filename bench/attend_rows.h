// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows of one layer with random state for the attention benchmarks: scattered
// blocks that hold what the codecs make of normal vectors, and copies of them,
// used in turn, so that they come from memory. One thread.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/env/cpu.h"
#include "holdfast/env/pages.h"
#include "holdfast/kernels/cpu/attend.h"

namespace holdfast::cpu {

struct AttendShape {
  const Codec* keys;
  const Codec* values;
  int64_t query_heads, kv_heads, dim, window;
};

/// How many rows, and how many of their leading blocks are the same.
struct AttendBatch {
  int64_t rows = 1;
  int64_t positions = 0; // of each
  int64_t shared = 0;
};

/// Rows of one layer, their blocks in random order in memory.
class AttendRows {
 public:
  /// With the content of `like`, where there is such a batch already.
  AttendRows(
      const AttendShape& shape,
      const AttendBatch& batch,
      const AttendRows* like = nullptr)
      : shape_(shape), layout_(planes(shape)), blocks_(batch.rows) {
    spec_ = {
        .query_heads = shape.query_heads,
        .kv_heads = shape.kv_heads,
        .key_dim = shape.dim,
        .value_dim = shape.dim,
        .scale = 1.0f / std::sqrt(static_cast<float>(shape.dim)),
        .visibility = {.window = shape.window, .sinks = 0},
        .sink_logits = {}};
    const int64_t chain = ceil_div(batch.positions, kBlockTokens);
    const int64_t own = chain - batch.shared;
    const int64_t count = batch.shared + batch.rows * own;
    const int64_t size = layout_.bytes().get();
    memory_ = allocate_pages(count * size);
    patterns_ = like != nullptr
        ? like->patterns_
        : std::make_shared<std::vector<std::byte>>(make_patterns());
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(2));
    for (int64_t i = 0; i < count; ++i) {
      images_.push_back(memory_.get() + order[i] * size);
      std::memcpy(
          images_[i],
          patterns_->data() + i % kPatterns * size,
          static_cast<size_t>(size));
    }
    for (int64_t r = 0; r < batch.rows; ++r) {
      auto& images = blocks_[r].images;
      const auto rest = images_.begin() + batch.shared + r * own;
      images.assign(images_.begin(), images_.begin() + batch.shared);
      images.insert(images.end(), rest, rest + own);
    }
  }

  /// `count` tokens of each row from `start` on.
  void attend(int64_t start, int64_t count, Executor& team) {
    const auto rows = static_cast<int64_t>(blocks_.size());
    std::vector<RowSpan> spans;
    for (int64_t r = 0; r < rows; ++r) {
      spans.push_back({r * count, count, start});
    }
    if (q_.empty()) {
      const int64_t tokens = rows * count;
      q_ = normal(tokens * shape_.query_heads * shape_.dim, 3);
      k_ = normal(tokens * shape_.kv_heads * shape_.dim, 4);
      v_ = normal(tokens * shape_.kv_heads * shape_.dim, 5);
      out_.resize(q_.size());
    }
    append_and_attend(
        {.spec = &spec_,
         .keys = shape_.keys,
         .values = shape_.values,
         .layout = &layout_,
         .layer = 0,
         .rows = spans,
         .blocks = blocks_,
         .q = q_.data(),
         .k = k_.data(),
         .v = v_.data(),
         .out = out_.data()},
        team,
        best_kernel_path());
  }

  /// Each once.
  const std::vector<std::byte*>& images() const {
    return images_;
  }
  int64_t image_bytes() const {
    return layout_.bytes().get();
  }

 private:
  static constexpr int64_t kPatterns = 16; // different images

  static std::vector<LayerPlanes> planes(const AttendShape& shape) {
    LayerPlanes layer{.heads = shape.kv_heads, .planes = {}};
    layer.planes = shape.keys->planes(ChannelRole::kKeys, shape.dim);
    const auto values = shape.values->planes(ChannelRole::kValues, shape.dim);
    layer.planes.insert(layer.planes.end(), values.begin(), values.end());
    return {layer};
  }
  static std::vector<float> normal(int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    std::generate(values.begin(), values.end(), [&] { return normal(random); });
    return values;
  }
  std::vector<std::byte> make_patterns() const {
    const int64_t size = layout_.bytes().get();
    std::vector<std::byte> patterns(kPatterns * size);
    const int64_t vectors = kPatterns * kBlockTokens * shape_.kv_heads;
    const std::vector<float> source = normal(2 * vectors * shape_.dim, 1);
    const float* from = source.data();
    for (int64_t i = 0; i < vectors; ++i) {
      const int64_t head = i % shape_.kv_heads;
      const int64_t token = i / shape_.kv_heads;
      std::byte* image = patterns.data() + token / kBlockTokens * size;
      int64_t plane = 0;
      for (const auto& [codec, role] :
           {std::pair{shape_.keys, ChannelRole::kKeys},
            {shape_.values, ChannelRole::kValues}}) {
        std::vector<std::byte*> planes;
        for (size_t p = 0; p < codec->planes(role, shape_.dim).size(); ++p) {
          planes.push_back(image + layout_.offset(0, head, plane++).get());
        }
        codec->encode(
            role,
            {from, static_cast<size_t>(shape_.dim)},
            token % kBlockTokens,
            planes);
        from += shape_.dim;
      }
    }
    return patterns;
  }

  AttendShape shape_;
  ImageLayout layout_;
  AttentionSpec spec_;
  std::shared_ptr<std::byte> memory_;
  std::shared_ptr<const std::vector<std::byte>> patterns_;
  std::vector<std::byte*> images_;
  std::vector<RowBlocks> blocks_;
  std::vector<float> q_, k_, v_, out_;
};

/// Copies of such rows that together exceed what caches keep.
class AttendCopies {
 public:
  AttendCopies(const AttendShape& shape, const AttendBatch& batch) {
    constexpr int64_t kBytes = int64_t{256} << 20;
    constexpr int64_t kTurn = int64_t{24} << 20;
    int64_t bytes = 0;
    do {
      copies_.push_back(std::make_unique<AttendRows>(
          shape, batch, copies_.empty() ? nullptr : copies_[0].get()));
      bytes_ = static_cast<int64_t>(copies_[0]->images().size()) *
          copies_[0]->image_bytes();
      bytes += bytes_;
    } while (bytes < kBytes);
    turn_ = std::clamp<int64_t>(
        kTurn / bytes_, 1, static_cast<int64_t>(copies_.size()));
  }
  /// Copies that are used in a turn, and the bytes of one.
  int64_t turn() const {
    return turn_;
  }
  int64_t bytes() const {
    return bytes_;
  }
  /// f(copy) for each of the next turn's copies.
  template <class F>
  void take_turn(F f) {
    for (int64_t i = 0; i < turn_; ++i) {
      f(*copies_[next_++ % copies_.size()]);
    }
  }

 private:
  std::vector<std::unique_ptr<AttendRows>> copies_;
  int64_t bytes_ = 0;
  int64_t turn_ = 0;
  size_t next_ = 0;
};

} // namespace holdfast::cpu
