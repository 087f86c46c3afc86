// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/node.h"

#include <algorithm>

namespace holdfast {

Image* Node::find(ImageSlot slot) {
  const auto found = std::ranges::find(images, slot, &Image::slot);
  return found == images.end() ? nullptr : &*found;
}

Image& Node::at(ImageSlot slot) {
  if (Image* image = find(slot)) {
    return *image;
  }
  const auto place = std::ranges::lower_bound(images, slot, {}, &Image::slot);
  return *images.insert(place, Image{.slot = slot, .disk = {}});
}

bool Node::any_image() const {
  return std::ranges::any_of(images, [](const Image& image) {
    return image.ram != nullptr || image.on_disk();
  });
}

bool Node::idle() const {
  return leases == 0 && std::ranges::none_of(images, [](const Image& image) {
           return image.ram && image.ram->block.shared();
         });
}

bool Node::may_lose() const {
  return idle() && writing == 0 &&
      (pins == 0 || std::ranges::all_of(images, [](const Image& image) {
           return !image.ram || image.on_disk();
         }));
}

bool Node::may_drop() const {
  return idle() && std::ranges::any_of(images, [](const Image& image) {
           return image.ram && image.on_disk();
         });
}

} // namespace holdfast
