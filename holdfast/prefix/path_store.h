// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Paths of a prefix tree as records of a coordinator: what of a path the disk
// lacks, and the record that goes with it, is its content, and a store writes
// that in one. Internal to prefix/.
//
// Threads: any.

#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "holdfast/prefix/image_planes.h"
#include "holdfast/prefix/path_content.h"
#include "holdfast/prefix/prefix_tree.h"
#include "holdfast/prefix/stored_scope.h"
#include "holdfast/prefix/wanted_paths.h"
#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/record.h"

namespace holdfast {

class PathStore : public RecordSource, public RecordStore {
 public:
  /// All outlive this. wanted: by key what a put wants, there before the
  /// coordinator's put; what is stored leaves it.
  PathStore(
      PrefixTree& tree,
      DiskTier& disk,
      WantedPaths& wanted,
      ScopeHandle scope,
      std::shared_ptr<StoredScope> stored_scope);
  /// Before the first store.
  void set_planes(std::shared_ptr<const ImagePlanes> planes) {
    planes_ = std::move(planes);
  }

  Result<std::shared_ptr<const RecordContent>>
  make(const RecordKey& key) override;
  Status store(
      const RecordKey& key,
      uint64_t version,
      const RecordContent& content) override;
  bool is_durable(const RecordKey& key, uint64_t version) override;
  bool is_covered(const RecordKey& key) override;

  /// The disk still has what was written of it, or what took its place.
  bool is_kept(const WantedPath& wanted);

  ScopeId stored_scope() const {
    return stored_scope_->id();
  }
  /// Images and tokens' bytes written so far.
  Bytes written() const;

 private:
  Status write(const PathContent& content);
  Result<Stored> attempt(const PathContent& content);
  /// What a batch without the path's end leaves to the disk: kNotFound where it
  /// lacks some.
  Status all_there(const PathContent& content);
  /// All that a row of the path needs, as the disk says.
  Result<bool> is_on_disk(const Path& path);
  bool done(const RecordKey& key, const WantedPath& wanted);

  PrefixTree& tree_;
  DiskTier& disk_;
  WantedPaths& wanted_;
  const ScopeHandle scope_;
  const std::shared_ptr<StoredScope> stored_scope_;
  std::shared_ptr<const ImagePlanes> planes_;
  mutable std::mutex mutex_;
  Bytes written_;
};

} // namespace holdfast
