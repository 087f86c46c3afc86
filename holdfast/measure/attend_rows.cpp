// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/measure/attend_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "holdfast/base/bits.h"
#include "holdfast/env/pages.h"
#include "holdfast/kernels/cpu/attend.h"

namespace holdfast::measure {

namespace {

constexpr int64_t kPatterns = 16; // different images
constexpr int64_t kCopiesBytes = int64_t{256} << 20;
constexpr int64_t kTurnBytes = int64_t{24} << 20;

std::vector<LayerPlanes> planes(const AttendShape& shape) {
  LayerPlanes layer{.heads = shape.kv_heads, .planes = {}};
  layer.planes = shape.keys->planes(ChannelRole::kKeys, shape.dim);
  const auto values = shape.values->planes(ChannelRole::kValues, shape.dim);
  layer.planes.insert(layer.planes.end(), values.begin(), values.end());
  return {layer};
}

std::vector<float> normal(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  return values;
}

} // namespace

AttentionSpec AttendShape::spec() const {
  return {
      .query_heads = query_heads,
      .kv_heads = kv_heads,
      .key_dim = dim,
      .value_dim = dim,
      .scale = 1.0f / std::sqrt(static_cast<float>(dim)),
      .visibility = {.window = window, .sinks = 0},
      .sink_logits = {}};
}

AttendRows::AttendRows(
    const AttendShape& shape,
    const AttendBatch& batch,
    const AttendRows* like)
    : shape_(shape),
      layout_(planes(shape)),
      spec_(shape.spec()),
      blocks_(static_cast<size_t>(batch.rows)) {
  const int64_t chain = ceil_div(batch.positions, kBlockTokens);
  const int64_t own = chain - batch.shared;
  const int64_t count = batch.shared + batch.rows * own;
  const int64_t size = layout_.bytes().get();
  memory_ = allocate_pages(count * size);
  patterns_ = like != nullptr
      ? like->patterns_
      : std::make_shared<std::vector<std::byte>>(make_patterns());
  std::vector<int64_t> order(static_cast<size_t>(count));
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

void AttendRows::attend(
    int64_t start,
    int64_t count,
    const AttendMachine& machine) {
  const auto rows = static_cast<int64_t>(blocks_.size());
  std::vector<RowSpan> spans;
  for (int64_t r = 0; r < rows; ++r) {
    spans.push_back({r * count, count, start});
  }
  const int64_t tokens = rows * count;
  const int64_t wide = tokens * shape_.query_heads * shape_.dim;
  if (static_cast<int64_t>(q_.size()) != wide) {
    q_ = normal(wide, 3);
    k_ = normal(tokens * shape_.kv_heads * shape_.dim, 4);
    v_ = normal(tokens * shape_.kv_heads * shape_.dim, 5);
    out_.resize(q_.size());
  }
  cpu::append_and_attend(
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
      *machine.team,
      machine.path);
}

std::vector<std::byte> AttendRows::make_patterns() const {
  const int64_t size = layout_.bytes().get();
  std::vector<std::byte> patterns(static_cast<size_t>(kPatterns * size));
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

AttendCopies::AttendCopies(const AttendShape& shape, const AttendBatch& batch)
    : batch_(batch) {
  int64_t bytes = 0;
  do {
    copies_.push_back(std::make_unique<AttendRows>(
        shape, batch, copies_.empty() ? nullptr : copies_[0].get()));
    bytes_ = static_cast<int64_t>(copies_[0]->images().size()) *
        copies_[0]->image_bytes();
    bytes += bytes_;
  } while (bytes < kCopiesBytes);
  turn_ = std::clamp<int64_t>(
      kTurnBytes / bytes_, 1, static_cast<int64_t>(copies_.size()));
}

} // namespace holdfast::measure
