// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Paths of a prefix tree as records of a coordinator: what of a path the disk
// lacks is its content, and a store writes that. Internal to prefix/.
//
// Threads: any. A content that is dropped unwritten gives its images back, so
// that a later put writes them.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "holdfast/plan/group.h"
#include "holdfast/prefix/prefix_tree.h"
#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/record.h"

namespace holdfast {

class PathStore : public RecordSource, public RecordStore {
 public:
  /// Both outlive this.
  PathStore(
      PrefixTree& tree,
      DiskTier& disk,
      ScopeHandle scope,
      ScopeId stored_scope,
      const LayerGroups& groups);

  /// Says what of a path, whose tokens are the key's, only RAM has; before the
  /// coordinator's put.
  void wants(
      const RecordKey& key,
      std::span<const TokenMark> marks,
      std::vector<FreshImages> fresh);

  Result<std::shared_ptr<const RecordContent>>
  make(const RecordKey& key) override;
  Status store(
      const RecordKey& key,
      uint64_t version,
      const RecordContent& content) override;
  bool is_durable(const RecordKey& key, uint64_t version) override;
  bool is_covered(const RecordKey& key) override;

  /// Images and tokens' bytes written so far.
  Bytes written() const;

 private:
  class Content;
  struct Wanted {
    std::vector<TokenMark> marks;
    std::vector<FreshImages> fresh;
  };
  void give_back(const RecordKey& key, Wanted wanted);
  /// False where an image that a row of the whole path needs is nowhere.
  bool is_whole(const RecordKey& key, std::span<const TokenMark> marks) const;

  PrefixTree& tree_;
  DiskTier& disk_;
  const ScopeHandle scope_;
  const ScopeId stored_scope_;
  std::vector<std::vector<std::vector<Bytes>>> planes_; // [group][phase]
  mutable std::mutex mutex_; // for all below
  // What is not on its way to the disk.
  std::unordered_map<RecordKey, Wanted, RecordKeyHash> wanted_;
  Bytes written_;
};

} // namespace holdfast
