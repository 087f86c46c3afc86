// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How the images of a state's layer groups are made up, for whoever stores
// them. Internal to prefix/. Immutable; any thread.

#pragma once

#include <cstddef>
#include <vector>

#include "holdfast/plan/group.h"
#include "holdfast/tier/batch.h"

namespace holdfast {

class ImagePlanes {
 public:
  explicit ImagePlanes(const LayerGroups& groups);

  Bytes image_bytes(ImageSlot slot) const;
  /// Says of each image which of its bytes have a checksum of their own.
  void fill(std::vector<NodeToStore>& nodes) const;

 private:
  const std::vector<Bytes>& of(ImageSlot slot) const {
    return planes_[static_cast<size_t>(slot.group)]
                  [static_cast<size_t>(slot.phase)];
  }
  std::vector<std::vector<std::vector<Bytes>>> planes_; // [group][phase]
};

} // namespace holdfast
