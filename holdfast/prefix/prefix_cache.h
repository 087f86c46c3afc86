// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a state computed once stays computed: rows begin with the longest prefix
// that is known in RAM or on disk, what they compute is put in, and the disk
// gets it in the background. One for each State; its rows are those of the
// state.
//
// Invariant: a row that begins here goes on with the bits of a cold run.
// Threads: the state's engine thread, save flush(), stats() and the background.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "holdfast/env/clock.h"
#include "holdfast/prefix/path_store.h"
#include "holdfast/prefix/prefix_tree.h"
#include "holdfast/state/state.h"
#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/durability.h"
#include "holdfast/tier/spill_queue.h"

namespace holdfast {

struct PrefixCacheOptions {
  /// Of blocks that only the index holds, and of the index itself.
  Bytes ram{int64_t{1} << 30};
  std::shared_ptr<DiskTier> disk; // null: RAM alone
  std::shared_ptr<Clock> clock = system_clock();
  std::string adapter = {}; // SHA-256 of its content
  std::string tenant_salt = {};
};

/// How a row began.
struct Begun {
  RowId row;
  Position reused; // leading tokens that need not be computed
  Why why; // reused so much and no more
};

class PrefixCache {
 public:
  /// `state` outlives this; its reclaimer is set. Throws what the disk says
  /// where its index cannot be read.
  PrefixCache(State& state, PrefixCacheOptions options);
  /// Does not flush.
  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  /// A row, last in order, with what is known of the prompt, at most all tokens
  /// but one. Throws kOutOfBudget.
  Begun begin(const Path& prompt);
  /// What begin() would reuse, and why; changes nothing.
  Why why(const Path& prompt) const;
  /// After a commit: what became full in the row is known from here on.
  /// committed: the row's tokens.
  void grew(RowId row, const Path& committed);
  /// The row as it is, its open blocks too; and the disk shall have it. The row
  /// stays. Whatever finds no room is left out.
  void put(RowId row, Path committed);

  /// Writes what the disk lacks; see FlushReport. Without a disk: durable is
  /// false where anything was put.
  FlushReport flush(const FlushOptions& options = {});
  TreeStats stats() const;
  DurabilityStats pending() const;
  /// Bytes that this process wrote into segments.
  Bytes written() const;

 private:
  struct Disk;
  /// The blocks of a usable prefix; nothing where one cannot be read.
  std::optional<std::vector<std::vector<BlockRef>>> held(const Usable& usable);
  /// Puts the row in; without room for its open blocks the full ones alone, and
  /// the path is cut to them.
  Inserted insert_row(RowId row, Path& committed);
  void load();

  State& state_;
  const PrefixCacheOptions options_;
  const Scope scope_text_;
  PrefixTree tree_;
  const ScopeHandle scope_;
  std::unique_ptr<Disk> disk_;
};

} // namespace holdfast
