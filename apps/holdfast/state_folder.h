// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where a command keeps state from one run to the next: a folder of the user's
// (docs/segment.md, docs/manifest.md), or nowhere. One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/tier/disk_tier.h"

namespace holdfast::app {

class StateFolder {
 public:
  void add_to(CLI::App& command);
  /// False for `--state none`, which holds unless another is named.
  bool kept() const {
    return path_ != "none";
  }
  /// SHA-256 of the file, hex; remembered in the folder. Shows progress.
  std::string digest(const std::string& model_path) const;
  /// What a cache over the folder is to be made with, or over memory alone
  /// where none is kept. Throws as open().
  PrefixCacheOptions cache_options() const;

 private:
  /// Made where it does not exist; says so then. Throws UserError.
  std::shared_ptr<DiskTier> open() const;
  void make_folders() const;

  std::string path_ = "none";
  std::optional<int64_t> max_disk_bytes_;
  std::optional<int64_t> max_cache_bytes_;
};

/// Writes what is not on disk yet, for at most so many seconds, and says on
/// standard error what was not saved.
void flush_state(PrefixCache& cache, double seconds);

} // namespace holdfast::app
