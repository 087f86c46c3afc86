// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where a command keeps state from one run to the next: the user's own folder
// (docs/segment.md, docs/manifest.md) unless he names another, or none.
//
// A named folder that cannot be used is his mistake; of the own one he is
// warned once, and the run goes on without. One thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "holdfast/engine/load.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/tier/disk_tier.h"

namespace holdfast::app {

class StateFolder {
 public:
  void add_to(CLI::App& command);
  /// False for `--state none`, and where the own folder cannot be used. The
  /// first call opens it; it is made, and he is told, where there is none.
  /// Throws UserError.
  bool kept() const;
  /// SHA-256 of the files that were loaded, as model_digest().
  std::string digest(const std::vector<ModelPart>& parts) const;
  /// --foreign-bits: of whose bits a run goes on.
  void add_foreign_to(CLI::App& command);
  /// ForeignBits::text() of the record that it names; "" where it is not given.
  /// Only where kept(), unless it is not given. Throws UserError.
  std::string foreign() const;
  /// What a cache over the folder is to be made with, or over memory alone
  /// where none is kept.
  PrefixCacheOptions cache_options() const;
  /// --max-cache-bytes was given.
  bool limits_cache() const {
    return max_cache_bytes_.has_value();
  }

 private:
  /// Throws UserError.
  void open() const;
  void make_folders() const;

  std::string path_; // empty: the user's own
  std::string foreign_; // a record's name; empty: none
  std::optional<int64_t> max_disk_bytes_;
  std::optional<int64_t> max_cache_bytes_;
  std::optional<int64_t> daily_bytes_;
  // Since the first kept():
  mutable std::optional<std::string> folder_; // empty: none
  mutable std::shared_ptr<DiskTier> tier_;
};

/// How long a command, or a turn of a chat, waits for the disk.
inline constexpr std::chrono::seconds kFlushPatience{10};

} // namespace holdfast::app
