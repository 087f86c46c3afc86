// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// TreeCore: images of nodes in RAM and on disk, and their sums.

#include "holdfast/base/check.h"
#include "holdfast/prefix/tree_core.h"

namespace holdfast {

Bytes TreeCore::bytes_of(const BlockRef& block) const {
  return blocks_.contains(block.image()) ? Bytes(0) : block.bytes();
}

void TreeCore::count_in_chat(Node& node, int64_t sign) {
  if (!node.chat) {
    return;
  }
  for (const Image& image : node.images) {
    if (image.ram) {
      const Bytes bytes(sign * image.ram->block.bytes().get());
      node.chat->bytes += bytes;
      node.chat->backed += image.on_disk() ? bytes : Bytes(0);
    }
  }
}

void TreeCore::attach(Node& node, ImageSlot slot, const BlockRef& block) {
  count_in_chat(node, -1);
  Image& image = node.at(slot);
  ensure(!image.ram, "[prefix] expected no image in RAM, got a second one");
  RamBlock& held = blocks_[block.image()];
  if (!held.block) {
    held.block = block;
    stats.image_bytes += block.bytes();
  }
  ++held.images;
  image.ram = &held;
  ++node.ram_images;
  ++stats.ram_images;
  count_in_chat(node, 1);
  if (node.ram_images == 1) {
    gain_ram(node);
  }
  changed(node);
}

void TreeCore::detach(Node& node, Image& image) {
  count_in_chat(node, -1);
  RamBlock& held = *image.ram;
  image.ram = nullptr;
  --node.ram_images;
  --stats.ram_images;
  count_in_chat(node, 1);
  if (--held.images == 0) {
    stats.image_bytes -= held.block.bytes();
    const std::byte* key = held.block.image();
    dropped.push_back(std::move(held.block));
    blocks_.erase(key);
  }
  if (node.ram_images == 0) {
    lose_ram(node);
  }
  changed(node);
}

void TreeCore::set_disk(Node& node, Image& image, const Extent& extent) {
  count_in_chat(node, -1);
  stats.disk_images += (extent.bytes > Bytes(0)) - image.on_disk();
  image.disk = extent;
  image.unreadable = false;
  count_in_chat(node, 1);
  changed(node);
}

void TreeCore::set_unreadable(Node& node, Image& image) {
  set_disk(node, image, {});
  image.unreadable = true;
  changed(node);
}

} // namespace holdfast
