// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// TreeCore: all sums and links computed again. For tests.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/base/check.h"
#include "holdfast/prefix/tree_core.h"

namespace holdfast {

namespace {

struct Sums {
  int64_t nodes = 0;
  int64_t ram_images = 0;
  int64_t disk_images = 0;
  Bytes index_bytes;
  std::unordered_map<const RamBlock*, int64_t> blocks;
  std::unordered_map<const Chat*, Chat> chats;
};

void check_links(const Node& node) {
  const auto& children = node.children.ordered();
  int64_t alive = 0;
  int32_t pins = 0;
  int32_t leases = 0;
  for (size_t i = 0; i < children.size(); ++i) {
    const Node& child = *children[i];
    ensure(
        child.parent == &node && child.scope == node.scope &&
            child.block == node.block + 1 && (node.full() || !node.parent),
        "[prefix] expected children below full nodes, got another link");
    ensure(
        i == 0 || compare(children[i - 1]->text(), child.text()) < 0,
        "[prefix] expected children in order, got others");
    alive += child.holds_ram();
    pins += child.pins;
    leases += child.leases;
  }
  ensure(
      alive == node.ram_below && pins <= node.pins && leases <= node.leases,
      "[prefix] expected counts of what lies below, got others");
  ensure(
      !node.parent || node.any_image() || !children.empty() ||
          node.writing > 0 || node.leases > 0 || node.stored != NodeId(0),
      "[prefix] expected no node that holds nothing, got one");
}

void add_images(const Node& node, Sums& sums) {
  int64_t ram = 0;
  for (const Image& image : node.images) {
    sums.disk_images += image.on_disk();
    if (!image.ram) {
      continue;
    }
    ++ram;
    ++sums.blocks[image.ram];
    if (node.chat) {
      const Bytes bytes = image.ram->block.bytes();
      Chat& chat = sums.chats[node.chat];
      chat.bytes += bytes;
      chat.backed += image.on_disk() ? bytes : Bytes(0);
    }
  }
  ensure(
      ram == node.ram_images && (ram > 0 || !node.chat) &&
          (!node.ram_leaf() || node.chat),
      "[prefix] expected images in RAM as counted, got others");
  sums.ram_images += ram;
  if (node.chat) {
    Chat& chat = sums.chats[node.chat];
    ++chat.nodes;
    if (node.ram_leaf()) {
      chat.leaves.push_back(const_cast<Node*>(&node));
    }
  }
}

void walk(const Node& root, Sums& sums) {
  std::vector<const Node*> waiting{&root};
  while (!waiting.empty()) {
    const Node& node = *waiting.back();
    waiting.pop_back();
    check_links(node);
    add_images(node, sums);
    sums.nodes += node.parent != nullptr;
    sums.index_bytes += node.counted;
    const auto& children = node.children.ordered();
    waiting.insert(waiting.end(), children.begin(), children.end());
  }
}

} // namespace

void TreeCore::check() {
  Sums sums;
  for (const ScopeEntry& scope : scopes) {
    walk(*scope.root, sums);
  }
  Bytes image_bytes;
  for (const auto& [image, block] : blocks_) {
    image_bytes += block.block.bytes();
    ensure(
        sums.blocks[&block] == block.images && block.block.image() == image,
        "[prefix] expected blocks as often as images name them, got others");
  }
  ensure(
      sums.blocks.size() == blocks_.size() && sums.nodes == stats.nodes &&
          sums.ram_images == stats.ram_images &&
          sums.disk_images == stats.disk_images &&
          sums.index_bytes == stats.index_bytes &&
          image_bytes == stats.image_bytes,
      "[prefix] expected the sums over all nodes, got others");
  ensure(
      sums.chats.size() == chats.size() && std::ssize(chats) == stats.chats &&
          std::ranges::is_sorted(
              chats, std::ranges::greater_equal(), &Chat::used),
      "[prefix] expected chats in the order of their use, got others");
  for (const Chat& chat : chats) {
    Chat& sum = sums.chats[&chat];
    auto leaves = chat.leaves;
    std::ranges::sort(leaves);
    std::ranges::sort(sum.leaves);
    ensure(
        sum.bytes == chat.bytes && sum.backed == chat.backed &&
            sum.nodes == chat.nodes && leaves == sum.leaves,
        "[prefix] expected the sums of a chat, got others");
  }
}

} // namespace holdfast
