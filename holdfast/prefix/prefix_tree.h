// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The index over all known state, in RAM and on disk: which leading tokens of a
// prompt have state somewhere, and what of it a row can go on from with the
// bits of a cold run (docs/prefix.md).
//
// Invariants: tokens and marks are compared, keys decide nothing; bytes() stays
// within the budget; what others hold, or lease, is not let go; a parent goes
// after its children. Threads: any; a lock within, never held over a disk or a
// graph. What is returned stays valid when its entry goes.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "holdfast/base/key_hash.h"
#include "holdfast/env/clock.h"
#include "holdfast/objects/shared_ram.h"
#include "holdfast/plan/chains.h"
#include "holdfast/prefix/path.h"
#include "holdfast/prefix/scope.h"
#include "holdfast/prefix/tree_stats.h"
#include "holdfast/prefix/why.h"
#include "holdfast/tier/batch.h"
#include "holdfast/tier/stored.h"

namespace holdfast {

class TreeCore;
class TreeShare;

/// A scope that a tree knows.
using ScopeHandle = Strong<struct ScopeHandleTag>;

/// A node of a tree; names nothing once the node is gone.
struct NodeHandle {
  uint32_t index = 0;
  uint32_t generation = 0; // 0: none
  bool operator==(const NodeHandle&) const = default;
};

/// Names a node by its parent's key, its tokens and its marks.
using NodeKeyHash = std::function<
    Key128(const Key128&, std::span<const int32_t>, std::string_view)>;

struct TreeOptions {
  Bytes budget{int64_t{1} << 30}; // of blocks referred to and of the index
  /// In place of `budget`: one that others share.
  std::shared_ptr<SharedRam> ram = {};
  std::shared_ptr<Clock> clock = system_clock();
  NodeKeyHash key_hash = chained_key;
  int64_t evicted_memory = 16384; // keys whose eviction can be explained
};

/// One image of a path to put in.
struct GivenImage {
  BlockIndex block;
  ImageSlot slot;
  BlockRef image; // sealed; holds all positions that the path has there
};

/// Of a path's chat. None: as it was, and as below for a new one.
struct InsertOptions {
  /// One more counts as half the bytes; -8 to 8, at first 0.
  std::optional<int32_t> priority = {};
  /// Since its last use; then it leaves RAM. At first Duration::max(): never.
  std::optional<Clock::Duration> time_to_live = {};
};

/// Images of a node that the disk does not have and nobody writes.
struct FreshImages {
  NodeHandle node;
  std::vector<ImageSlot> slots;
};

struct Inserted {
  Position kept; // leading positions that found room; more are not in RAM
  NodeHandle leaf; // holds the last of them
  /// What of the path only RAM has, whoever put it there, parents before
  /// children.
  std::vector<FreshImages> fresh;
};

/// Nodes to store, and who they are.
struct WriteBatch {
  std::vector<NodeToStore> nodes; // ImageToStore::planes is left to the caller
  std::vector<NodeHandle> handles; // [node]
};

/// What makes a text durable in one store: with it, whatever else happens, the
/// disk has all that a row of it needs.
struct RecordWrite {
  WriteBatch batch;
  /// Tokens that the tree has no node for: behind the batch's nodes, without
  /// images.
  std::vector<NodeToStore> beyond;
  /// The node of the last token: an index of batch and beyond together, else -1
  /// and `leaf` counts.
  int64_t leaf_in_batch = -1;
  NodeId leaf;
  Position usable; // so many leading tokens have state, here or on disk
};

/// Keeps a node and the path to it as they are while it lives.
class NodeLease {
 public:
  NodeLease() = default;
  NodeLease(std::shared_ptr<TreeCore> tree, NodeHandle node);
  NodeLease(NodeLease&& other) noexcept;
  NodeLease& operator=(NodeLease other) noexcept;
  ~NodeLease();
  explicit operator bool() const {
    return tree_ != nullptr;
  }

 private:
  std::shared_ptr<TreeCore> tree_;
  NodeHandle node_;
};

/// One image of a usable prefix. In RAM it is `ram`, else it is on `disk`.
struct UsableImage {
  BlockIndex block;
  ImageSlot slot;
  NodeHandle node;
  NodeId stored; // 0: not on disk
  BlockRef ram;
  std::optional<Extent> disk;
};

struct Usable {
  Position length;
  /// What Chain::restored and assemble take: [group], the blocks in order.
  ChainFacts facts;
  std::vector<std::vector<UsableImage>> images;
  NodeLease lease; // of the last block, where length > 0
  Why why;
};

class PrefixTree {
 public:
  explicit PrefixTree(TreeOptions options = {});
  ~PrefixTree();

  /// The scope, added where it is new. rules: [group] of its states. Throws
  /// kInvalidArgument where the scope is known with others.
  ScopeHandle open(const Scope& scope, const std::vector<GroupRule>& rules);
  /// A scope that a disk tier names; nothing is usable in it before open().
  Result<ScopeHandle> open_stored(std::string_view scope_text);

  /// Puts a path in: what is known is shared, an image that is there already,
  /// or is not intact, is not taken, a tail that the path extends is let go.
  /// Leading blocks are kept as far as there is room. Throws kInvalidArgument
  /// for images that no row of that path has.
  Inserted insert(
      ScopeHandle scope,
      const Path& path,
      std::span<const GivenImage> images,
      const InsertOptions& options = {});
  /// The same with all that a row holds, its blocks of a pool with one image
  /// kind a group and phase, in order. Throws kInvalidArgument where the row
  /// has another length, other spans or other rules.
  Inserted insert(
      ScopeHandle scope,
      const Path& path,
      const CapturedRow& row,
      const InsertOptions& options = {});

  /// The longest prefix of the prompt, of at most all tokens but one, from
  /// which a row goes on with the bits of a cold run; counted as used.
  Usable usable(ScopeHandle scope, const Path& prompt);
  /// What usable() would say; counts nothing.
  Why why(ScopeHandle scope, const Path& prompt) const;
  /// Both of a text of which no token is left to compute: as though the prompt
  /// had one more, which stands for no text.
  Usable usable_whole(ScopeHandle scope, const Path& text);
  Position known(ScopeHandle scope, const Path& text) const;

  // What the disk has.

  /// A node that the disk tier has, with all images that it has there; its
  /// parent comes before it. False where the index has no room for it or its
  /// parent.
  Result<bool> add_stored(ScopeHandle scope, const StoredNode& node);
  /// What to store for these images; they stay in RAM until one of the next two
  /// is called with the batch. Parents that the disk lacks are in it as well.
  WriteBatch begin_write(std::span<const FreshImages> images);
  /// The same for all that a row of the path needs, whoever writes it already,
  /// and for these images. Parents, and the leaf, are in the batch or on disk.
  RecordWrite begin_record(
      ScopeHandle scope,
      const Path& path,
      std::span<const FreshImages> images);
  /// What a row of the path would be restored from, where the disk has all of
  /// it.
  std::optional<std::vector<NamedImage>>
  stored_images(ScopeHandle scope, const Path& path) const;
  void stored(const WriteBatch& batch, const Stored& stored);
  /// It failed or was dropped; returns what may be tried again.
  std::vector<FreshImages> not_stored(const WriteBatch& batch);
  /// Those that the disk has, as far as the tree knows.
  std::vector<NodeId> stored_nodes() const;
  /// Nodes that the disk has no more.
  void removed(std::span<const NodeId> nodes);
  /// Images that the disk has no more, nor what is mapped of them; where a file
  /// was cut, nor any other image here that is not intact.
  void lost(const Lost& lost);
  /// The disk gave the image back wrongly or not at all; or it is in RAM, and
  /// not intact (BlockRef).
  void unreadable(const UsableImage& image);

  // Retention.

  /// Pins count: while one is left, what only RAM has of the node and the path
  /// to it stays there. False where the node is gone.
  bool pin(NodeHandle node);
  bool unpin(NodeHandle node);
  NodeLease lease(NodeHandle node);
  /// Lets go of what RAM has of a path and no other branch shares, from its end
  /// on; how many images. What is pinned, leased or held elsewhere stays.
  int64_t forget(ScopeHandle scope, const Path& path);
  /// Lets go of at least so many bytes where it can; those freed.
  Bytes reclaim(Bytes wanted);
  /// Binds at once, as far as others let go. Throws kInvalidArgument for less
  /// than 0, and where the budget is shared.
  void set_budget(Bytes budget);
  /// What others take off the budget, from now on; likewise.
  void set_beside(Bytes beside);
  /// So that so many bytes more fit beside the index, or it is false and
  /// nothing changed: of a shared budget. Of its own: true.
  bool make_room_beside(Bytes more);
  /// Keeps the budget where others let go since: of what was being written.
  void shrink();
  Bytes bytes() const;
  TreeStats stats() const;
  /// Throws kInternal where a sum or a link is wrong. For tests; O(nodes).
  void check() const;

 private:
  Usable usable_of(ScopeHandle scope, const PathBlocks& blocks);
  /// For so much room, which is said under the lock, of a shared budget.
  void ask(const std::function<Bytes()>& room);

  std::shared_ptr<TreeCore> core_;
  /// Null where the budget is the tree's own. Leases may outlive it.
  std::unique_ptr<TreeShare> share_;
};

} // namespace holdfast
