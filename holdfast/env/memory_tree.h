// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The names of a file system in memory: what is seen, what is on the device,
// and every change between the two. For memory_file_system, which serialises
// all calls.
//
// A change of a name (create, rename, remove) is whole or not at all. It gets
// to the device with a sync of a folder that it touches, and then every earlier
// change of the same names does, too.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/env/memory_bytes.h"
#include "holdfast/env/power_loss.h"

namespace holdfast {

class MemoryUse;

/// A file or a folder.
struct MemoryNode {
  bool folder = false;
  uint64_t number = 0; // its inode
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  MemoryBytes bytes; // of a file
  std::map<std::string, std::shared_ptr<MemoryUse>> seen; // of a folder
  std::map<std::string, std::shared_ptr<MemoryNode>> stored;
};

/// A name, an open file or a mapping. Where the last of a file goes, so does
/// the room it takes.
class MemoryUse {
 public:
  MemoryUse(
      std::shared_ptr<MemoryNode> node,
      std::shared_ptr<std::atomic<int64_t>> room_used)
      : node_(std::move(node)), room_used_(std::move(room_used)) {}
  MemoryUse(const MemoryUse&) = delete;
  MemoryUse& operator=(const MemoryUse&) = delete;
  ~MemoryUse() {
    room_used_->fetch_sub(node_->bytes.allocated());
  }
  MemoryNode& node() const {
    return *node_;
  }
  const std::shared_ptr<MemoryNode>& shared() const {
    return node_;
  }

 private:
  std::shared_ptr<MemoryNode> node_;
  std::shared_ptr<std::atomic<int64_t>> room_used_;
};
using MemoryUsePtr = std::shared_ptr<MemoryUse>;

class MemoryTree {
 public:
  /// An empty root.
  MemoryTree();
  MemoryTree(MemoryTree&&) = default;
  MemoryTree& operator=(MemoryTree&&) = default;
  ~MemoryTree();
  /// What the machine finds after `loss`, all of it on the device.
  MemoryTree after_loss(PowerLoss loss) const;

  /// Where a path leads: a name in a folder, and what is there, if anything.
  struct Place {
    MemoryUsePtr folder; // null: the root itself
    std::string name;
    MemoryUsePtr use; // null: nothing
  };
  /// kNotFound where a folder on the way is missing, kInvalidArgument where one
  /// is a file or a name is none.
  Result<Place> find(const std::string& path) const;

  /// A new file or folder in an empty place.
  MemoryUsePtr add(const Place& place, bool folder);
  void remove(const Place& place);
  /// Moves what is at `from`, in place of what is at `to`. kInvalidArgument
  /// where one is a folder that cannot be.
  Status rename(const Place& from, const Place& to);
  void sync(MemoryNode& folder);
  /// A later moment with every call.
  int64_t tick() {
    return ++time_;
  }
  /// Bytes that files take.
  std::atomic<int64_t>& room_used() const {
    return *room_used_;
  }

 private:
  using NodePtr = std::shared_ptr<MemoryNode>;
  struct Edit {
    NodePtr folder;
    std::string name;
    NodePtr node; // null: the name goes
  };
  struct Change {
    std::vector<Edit> edits;
    bool moves_folder = false; // needs every earlier change
  };
  using Names = std::map<std::string, NodePtr>;
  /// The names that some changes touch.
  class Touched {
   public:
    bool any_of(const Change& change) const;
    void add(const Change& change);
    bool empty() const {
      return names_.empty();
    }

   private:
    std::set<std::pair<const MemoryNode*, std::string>> names_;
  };

  MemoryUsePtr use_of(NodePtr node) const;
  NodePtr new_node(bool folder);
  void edit(Change change);

  std::shared_ptr<std::atomic<int64_t>> room_used_;
  MemoryUsePtr root_;
  std::vector<Change> changes_;
  // A folder may be seen in one that is stored in it: rings of owners.
  std::vector<std::weak_ptr<MemoryNode>> folders_;
  uint64_t nodes_ = 0;
  int64_t time_ = 0;
};

} // namespace holdfast
