// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A text on its way to the disk: images that are being written, the nodes they
// belong to, and the record that goes with them. Internal to prefix/.
//
// Threads: any; one store is at work on it at a time. Dropped unwritten, it
// leaves its images to who writes next.

#pragma once

#include <memory>

#include "holdfast/prefix/prefix_tree.h"
#include "holdfast/prefix/wanted_paths.h"
#include "holdfast/tier/record.h"

namespace holdfast {

class PathContent : public RecordContent {
 public:
  /// The tree outlives it.
  PathContent(
      PrefixTree& tree,
      ScopeHandle scope,
      std::shared_ptr<const WantedPath> wanted);
  ~PathContent() override;
  PathContent(const PathContent&) = delete;
  PathContent& operator=(const PathContent&) = delete;

  Bytes bytes() const override {
    return bytes_;
  }
  const WantedPath& wanted() const {
    return *wanted_;
  }
  const RecordWrite& write() const {
    return write_;
  }
  /// All state that it had when it was put is here or on disk.
  bool is_whole() const {
    return write_.usable >= wanted_->state;
  }
  /// Looks again at what the disk lacks: what it had may be gone meanwhile.
  void renew() const;
  void set_stored(const Stored& stored) const;

 private:
  void end() const;

  PrefixTree& tree_;
  const ScopeHandle scope_;
  const std::shared_ptr<const WantedPath> wanted_;
  mutable RecordWrite write_; // of the one store
  mutable bool ended_ = false;
  Bytes bytes_;
};

} // namespace holdfast
