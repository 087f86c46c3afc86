// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to prefix/: the nodes of all scopes, their images, and the sums over
// them. Everything under `mutex`, which PrefixTree takes. Blocks that are let
// go wait in `dropped`, so that they are freed after the lock.

#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "holdfast/prefix/needs.h"
#include "holdfast/prefix/node.h"
#include "holdfast/prefix/prefix_tree.h"

namespace holdfast {

struct ScopeEntry {
  Scope scope;
  Node* root = nullptr;
  std::vector<GroupRule> rules = {}; // [group]; none before it is opened
  std::optional<Needs> needs = {};
  Position least = {}; // of ForeignBits: no shorter prefix is usable
};

/// The nodes that agree with leading blocks of a prompt, and the child of the
/// last that agrees with some positions more.
struct Matched {
  Node* root = nullptr;
  std::vector<Node*> nodes; // [block], full
  Children::Match part;

  Node* last() const {
    return nodes.empty() ? root : nodes.back();
  }
  int64_t blocks() const {
    return std::ssize(nodes);
  }
  Position length() const {
    return Position(blocks() * kBlockTokens + part.run);
  }
};

class TreeCore {
 public:
  explicit TreeCore(TreeOptions options);
  /// Gives its part of a shared budget back.
  ~TreeCore();
  TreeCore(const TreeCore&) = delete;
  TreeCore& operator=(const TreeCore&) = delete;

  std::mutex mutex;
  std::vector<BlockRef> dropped;

  // tree_nodes.cpp
  ScopeEntry& scope(ScopeHandle handle);
  ScopeHandle add_scope(const Scope& scope);
  Node& add_node(Node& parent, const BlockText& text);
  /// Frees the node and then its ancestors while they are of no use.
  void prune(Node* node, EvictedBy by);
  Node* resolve(NodeHandle handle);
  static NodeHandle handle(const Node& node) {
    return {node.index, node.generation};
  }
  static void add_to_path(Node* node, int32_t Node::*count, int32_t more) {
    for (; node; node = node->parent) {
      node->*count += more;
    }
  }
  static int32_t pins_below(const Node& node);
  /// The node of the last block of a usable prefix.
  static NodeHandle leaf_of(const Usable& found);
  /// What a node of that text with so many images counts in the index.
  static Bytes record_bytes(const BlockText& text, size_t images);
  Bytes bytes() const {
    return stats.image_bytes + stats.index_bytes;
  }
  Bytes budget() const {
    return std::max(Bytes(0), options.budget - beside);
  }
  /// Below 0 where others, or what is in use, take more than the budget.
  Bytes unused() const {
    return options.budget - beside - bytes();
  }

  // tree_images.cpp
  void attach(Node& node, ImageSlot slot, const BlockRef& block);
  void detach(Node& node, Image& image);
  void set_disk(Node& node, Image& image, const Extent& extent);
  void set_unreadable(Node& node, Image& image);
  /// Bytes that attaching the block would add.
  Bytes bytes_of(const BlockRef& block) const;

  // tree_chats.cpp
  /// The node has got its first image in RAM, or lost its last.
  void gain_ram(Node& node);
  void lose_ram(Node& node);
  void count_in_chat(Node& node, int64_t sign);
  void touch(Node& node);
  /// The chat that a new child of the node would belong to, else null.
  static Chat* chat_below(Node* node);
  /// The node that becomes a leaf once RAM has nothing left of this one, unless
  /// another branch goes on there.
  static Node* next_ram_leaf(const Node& leaf);

  // tree_insert.cpp
  struct NewPath {
    ScopeEntry& scope;
    const PathBlocks& blocks;
    std::span<const GivenImage> images; // by block
    const InsertOptions& options;
  };
  Inserted insert(const NewPath& path);
  /// What that adds to bytes(), at most.
  Bytes wanted_bytes(const NewPath& path) const;

  // tree_lookup.cpp
  Matched match(ScopeEntry& scope, const PathBlocks& blocks) const;
  /// The usable prefix, without a lease, and why it is no longer.
  Usable look_up(ScopeEntry& scope, const PathBlocks& blocks);
  void count_use(const Usable& found);

  // tree_evict.cpp
  uint64_t next_tick() const {
    return options.ram ? options.ram->use() : tick + 1;
  }
  void expire();
  /// Lets go of so many bytes where it can; how many of blocks.
  Bytes reclaim(Bytes wanted, EvictedBy by);
  /// Lets go of all that RAM has of the node, or of what the disk has as well:
  /// how many images. The first may free the node.
  int64_t drop(Node& node, EvictedBy by);
  int64_t drop_backed(Node& node);
  /// The same from a leaf up to where its chat begins.
  int64_t drop_branch(Node* leaf, EvictedBy by);
  int64_t forget(ScopeEntry& scope, const PathBlocks& blocks);

  // tree_disk.cpp
  Result<bool> add_stored(ScopeEntry& scope, const StoredNode& stored);
  WriteBatch begin_write(std::span<const FreshImages> images);
  RecordWrite begin_record(
      ScopeEntry& scope,
      const PathBlocks& asked,
      std::span<const FreshImages> fresh);
  std::optional<std::vector<NamedImage>>
  stored_images(ScopeEntry& scope, const PathBlocks& asked);
  void stored(const WriteBatch& batch, const Stored& stored);
  std::vector<FreshImages> not_stored(const WriteBatch& batch);
  std::vector<NodeId> stored_nodes() const;
  void remove_stored(NodeId id);
  void lose_stored(const Lost& lost);

  // tree_check.cpp
  void check();

  TreeOptions options;
  TreeStats stats;
  Bytes beside; // taken off the budget by others
  uint64_t tick = 0; // of the last use
  std::list<Chat> chats; // the last used first
  std::deque<ScopeEntry> scopes;
  EvictedKeys evicted;
  Clock::Moment next_expiry = Clock::Moment::max();

 private:
  void recount(Node& node);
  void changed(Node& node);
  void free_node(Node& node);
  void join(Node& node, Chat& chat);
  void leave(Node& node);
  void add_leaf(Node& node);
  void remove_leaf(Node& node);
  Chat& add_chat(uint64_t used);
  void share_from(Node* node);
  void claim(Node& node);
  /// Whether a path's image is taken: it is not here, and no longer node has
  /// it.
  static bool takes(const Node& parent, const BlockText& text, ImageSlot slot);
  Bytes wanted_bytes(
      const Node& parent,
      const BlockText& text,
      std::span<const GivenImage> given) const;
  bool make_room(
      Node& parent,
      const BlockText& text,
      std::span<const GivenImage> given);
  /// The node that holds the block from now on, null where none does.
  Node* put_block(
      Node& parent,
      const BlockText& text,
      std::span<const GivenImage> given,
      Inserted& result);
  /// Where the disk lacks it and nobody writes it.
  static void add_fresh(const Node& node, const Image& image, Inserted& result);
  void use_chat(Node& node, const InsertOptions& given);
  /// Tails that the text begins with lose what it has; what is durable goes
  /// once what replaces it is.
  void supersede_in_ram(Node& parent, const BlockText& text, ImageSlot slot);
  void supersede_on_disk(Node& node);
  void end_superseded(Node& tail);
  void set_stored(Node& node, NodeId id);
  /// The disk has these images of the node and no others.
  void forget_others(Node& node, const std::vector<StoredImage>& there);
  /// The node's place in the batch; it is added where it is not there, after
  /// those above it that the disk lacks.
  using Places = std::unordered_map<const Node*, int64_t>;
  int64_t add_to_batch(WriteBatch& batch, Places& places, Node& node);
  /// Those that only RAM has; kTaken: also what other batches write.
  enum class Writing { kLeftOut, kTaken };
  void add_images(
      WriteBatch& batch,
      Places& places,
      const FreshImages& fresh,
      Writing others);
  /// The text's last token in the batch, or in a node that the disk has; what
  /// the tree has no node for is added.
  void add_leaf(
      RecordWrite& write,
      Places& places,
      ScopeEntry& scope,
      const PathBlocks& asked);
  void end_write(Node& node, const NodeToStore& written);
  void explain_end(Why& why, const Matched& found, const PathBlocks& blocks);
  void explain_scopes(Why& why, ScopeEntry& scope, const PathBlocks& blocks);
  Evicted now_evicted(EvictedBy by) const {
    return {options.clock->wall_ns(), by};
  }

  std::deque<Node> nodes_;
  std::vector<Node*> free_;
  std::unordered_map<const std::byte*, RamBlock> blocks_; // by image
  std::unordered_map<NodeId, Node*> by_id_;
};

/// The lock of a tree; what is let go under it is freed after it.
class TreeLock {
 public:
  explicit TreeLock(TreeCore& core) : core_(core), lock_(core.mutex) {}
  TreeLock(const TreeLock&) = delete;
  TreeLock& operator=(const TreeLock&) = delete;
  ~TreeLock() {
    freed_.swap(core_.dropped);
  }

 private:
  TreeCore& core_;
  std::vector<BlockRef> freed_; // outlives the lock
  std::lock_guard<std::mutex> lock_;
};

} // namespace holdfast
