// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/block/layout.h"

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"

namespace holdfast {

namespace {

constexpr int64_t kPlaneAlignment = 64;
constexpr int64_t kImageAlignment = 4096;

} // namespace

ImageLayout::ImageLayout(const std::vector<LayerPlanes>& layers) {
  expect(!layers.empty(), "[ImageLayout] expected at least one layer, got 0");
  int64_t end = 0;
  layers_.reserve(layers.size());
  for (const LayerPlanes& planes : layers) {
    expect(
        planes.heads >= 1 && !planes.planes.empty(),
        "[ImageLayout] expected a head and a plane in each layer, got none");
    Layer layer{Bytes(end), Bytes(0), planes.heads, {}};
    int64_t stride = 0;
    for (const PlaneSpec& plane : planes.planes) {
      expect(
          plane.bytes.get() >= 1,
          "[ImageLayout] expected planes of 1 byte or more, got an empty one");
      layer.planes.push_back(Bytes(stride));
      stride += round_up(plane.bytes.get(), kPlaneAlignment);
    }
    layer.head_stride = Bytes(stride);
    end += planes.heads * stride;
    layers_.push_back(std::move(layer));
  }
  bytes_ = Bytes(round_up(end, kImageAlignment));
}

Bytes ImageLayout::offset(int64_t layer, int64_t head, int64_t plane) const {
  const bool known = layer >= 0 && layer < layers();
  if (!known || head < 0 || head >= layers_[layer].heads || plane < 0 ||
      plane >= static_cast<int64_t>(layers_[layer].planes.size())) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[ImageLayout.offset] expected a plane of the layout, got layer " +
            std::to_string(layer) + " head " + std::to_string(head) +
            " plane " + std::to_string(plane));
  }
  const Layer& at = layers_[layer];
  return at.offset + Bytes(head * at.head_stride.get()) + at.planes[plane];
}

std::vector<Bytes> ImageLayout::plane_strides() const {
  std::vector<Bytes> starts;
  for (const Layer& layer : layers_) {
    for (int64_t head = 0; head < layer.heads; ++head) {
      const Bytes first = layer.offset + Bytes(head * layer.head_stride.get());
      for (const Bytes plane : layer.planes) {
        starts.push_back(first + plane);
      }
    }
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    const Bytes next = i + 1 < starts.size() ? starts[i + 1] : bytes_;
    starts[i] = next - starts[i];
  }
  return starts;
}

Bytes ImageLayout::head_stride(int64_t layer) const {
  expect(
      layer >= 0 && layer < layers(),
      "[ImageLayout.head_stride] expected a layer of the layout, got another");
  return layers_[layer].head_stride;
}

} // namespace holdfast
