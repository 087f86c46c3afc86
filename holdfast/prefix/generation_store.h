// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of generations in a disk tier: a record of the space
// "generation" under the key, and with it, in one store, what of its rows'
// paths only RAM has. Internal to prefix/.
//
// The record stands for no node of the index, so that evicting state never
// takes it; state that is missing is computed again. What a completed
// generation computed stays as any other text does. Threads: any.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/prefix/image_planes.h"
#include "holdfast/prefix/prefix_tree.h"
#include "holdfast/prefix/stored_scope.h"
#include "holdfast/tier/checkpoint.h"
#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/key_claims.h"
#include "holdfast/tier/record_body.h"

namespace holdfast {

class GenerationStore : public CheckpointStore {
 public:
  struct Options {
    PrefixTree& tree;
    DiskTier& disk;
    ScopeHandle scope;
    std::shared_ptr<StoredScope> stored_scope;
    std::shared_ptr<const ImagePlanes> planes;
    std::string_view tenant_salt; // keys of tenants are apart
    /// Of images that one checkpoint holds, but at least a block; more go with
    /// the next.
    Bytes most_bytes;
  };
  /// All that it refers to outlives this, and this its contents.
  explicit GenerationStore(const Options& options);

  /// body, and what only RAM has of the full blocks of these paths.
  std::shared_ptr<const RecordContent>
  content(std::span<const std::vector<int32_t>> paths, const RecordBody& body);
  /// kNotFound where the key has no checkpoint.
  Result<RecordBody> body(const std::string& key);
  /// Bytes that went into segments.
  Bytes written() const {
    return Bytes(written_);
  }

  Status write(
      const std::string& key,
      CheckpointVersion version,
      const Checkpoint& checkpoint) override;
  Status remove(const std::string& key) override;
  Result<std::shared_ptr<void>> claim(const std::string& key) override;

 private:
  class Content;
  using Paths = std::vector<std::vector<int32_t>>; // full blocks

  RecordName name(const std::string& key) const;
  /// What of the paths only RAM has, as much as one checkpoint holds; how many
  /// blocks are left.
  std::pair<WriteBatch, int64_t> batch_of(const Paths& paths);
  /// How many of the first of these one checkpoint holds.
  size_t within_limit(const std::vector<FreshImages>& fresh) const;
  Status store(
      RecordToStore record,
      std::vector<NodeToStore> nodes,
      const std::function<void(const Stored&)>& committed);

  PrefixTree& tree_;
  DiskTier& disk_;
  const ScopeHandle scope_;
  const std::shared_ptr<StoredScope> stored_scope_;
  const std::shared_ptr<const ImagePlanes> planes_;
  const std::string tenant_; // SHA-256 of the salt, "" for none
  const Bytes most_bytes_;
  KeyClaims claims_;
  std::atomic<int64_t> written_{0};
};

} // namespace holdfast
