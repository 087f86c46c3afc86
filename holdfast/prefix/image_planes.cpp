// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/image_planes.h"

namespace holdfast {

ImagePlanes::ImagePlanes(const LayerGroups& groups) {
  for (const LayerGroup& group : groups.groups()) {
    auto& phases = planes_.emplace_back();
    for (const GroupPhase& phase : group.phases) {
      phases.push_back(phase.layout.plane_strides());
    }
  }
}

Bytes ImagePlanes::image_bytes(ImageSlot slot) const {
  Bytes sum;
  for (const Bytes plane : of(slot)) {
    sum += plane;
  }
  return sum;
}

void ImagePlanes::fill(std::vector<NodeToStore>& nodes) const {
  for (NodeToStore& node : nodes) {
    for (ImageToStore& image : node.images) {
      image.planes = of(image.slot);
    }
  }
}

} // namespace holdfast
