// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a state computed once stays computed: rows begin with the longest prefix
// that is known in RAM or on disk, what they compute is put in, and the disk
// gets it in the background. One for each State; its rows are those of the
// state.
//
// Invariant: a row that begins here goes on with the bits of a cold run.
// Threads: the state's engine thread, save flush(), stats() and the
// background.

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/env/clock.h"
#include "holdfast/prefix/named_record.h"
#include "holdfast/prefix/prefix_tree.h"
#include "holdfast/prefix/wanted_paths.h"
#include "holdfast/state/state.h"
#include "holdfast/tier/continuations.h"
#include "holdfast/tier/conversation_export.h"
#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/durability.h"

namespace holdfast {

struct PrefixCacheOptions {
  /// Of blocks that only the index holds, and of the index itself.
  Bytes ram{int64_t{1} << 30};
  /// In place of `ram`: a budget that others share, such as an ObjectCache.
  std::shared_ptr<SharedRam> shared_ram = {};
  std::shared_ptr<DiskTier> disk; // null: RAM alone
  std::shared_ptr<Clock> clock = system_clock();
  std::string adapter = {}; // SHA-256 of its content
  std::string tenant_salt = {};
  /// Of images that one checkpoint of a generation holds, but at least a block;
  /// none: 32 MiB, or eight blocks of the state where those are more.
  std::optional<Bytes> checkpoint_images = {};
};

/// The space of checkpoints' records; their names are keys of generations,
/// those of a tenant behind the tenant's.
inline constexpr std::string_view kGenerationSpace = "generation";
/// Keys of generations are 1 to so many bytes.
inline constexpr size_t kMaxGenerationKey = 1024;

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
  /// but one. What the disk cannot say is unknown. Throws kOutOfBudget.
  Begun begin(const Path& prompt);
  /// What begin() would reuse, and why; changes nothing.
  Why why(const Path& prompt) const;
  /// After a commit: what became full in the row is known from here on.
  /// committed: the row's tokens.
  void grew(RowId row, const Path& committed);
  /// The row as it is, its open blocks too; and the disk shall have it. The row
  /// stays. Whatever finds no room is left out.
  void put(RowId row, Path committed);

  // Records: texts that have a name (docs/prefix.md). Without a disk they are
  // kept in RAM, within the budget.

  /// The same as a record in place of the one of that name: its state, tokens
  /// and body go to the disk in one store. Throws kOutOfBudget where the
  /// record finds no room, and kInvalidArgument for one without a name.
  void put(RowId row, Path committed, NamedRecord record);
  /// The same of a text without a row, with the state that is known of it. A
  /// record of no tokens and no body is nothing: false.
  bool put(const Path& text, NamedRecord record);
  /// The newest of that name, stored or not, of any scope. kNotFound, kCorrupt.
  Result<KnownRecord> record(const RecordName& name);
  /// Of a space, by name.
  Result<std::vector<RecordFacts>> records(std::string_view space);
  /// Removes the record alone; ok where there is none. Its state may serve
  /// others.
  Status remove_record(const RecordName& name);

  // Checkpoints of generations (docs/durability.md).

  /// Null without a disk. Any thread.
  Continuations* continuations();
  /// What a checkpoint of rows with these committed tokens holds: `body`, and
  /// the state that the disk lacks. There is a disk.
  std::shared_ptr<const RecordContent> checkpoint(
      std::span<const std::vector<int32_t>> rows,
      const RecordBody& body);
  /// The body on disk; kNotFound where the key has none. There is a disk.
  Result<RecordBody> checkpoint_body(const std::string& key);

  // How long a text that is known stays in RAM (docs/prefix.md).

  /// Priority and time to live of its chat from now on; a use of it. False
  /// where no known text ends there.
  bool keep(const Path& text, const InsertOptions& options);
  /// What RAM has of the text stays there until it is unpinned; pins count.
  /// Nothing where no known text ends there.
  std::optional<NodeHandle> pin(const Path& text);
  /// False where the text went, as it may where the disk has it too. Throws
  /// kInvalidArgument for one that is not pinned.
  bool unpin(NodeHandle pinned);

  /// Of RAM, from now on; binds at once, as far as others let go. Throws
  /// kInvalidArgument for less than 0, and where the budget is shared
  /// (SharedRam::set_limit).
  void set_budget(Bytes ram);
  /// Writes what the disk lacks; see FlushReport. Without a disk: durable is
  /// false where anything was put.
  FlushReport flush(const FlushOptions& options = {});
  /// What is known of a text, in a file: see export_prefix().
  Result<ExportedConversation>
  export_prefix(const Path& text, ConversationWriterOptions to);
  TreeStats stats() const;
  /// Throws kInternal where a sum or a link of the index is wrong. For tests.
  void check() const;
  DurabilityStats pending() const;
  /// Bytes that this process wrote into segments.
  Bytes written() const;
  /// Null: RAM alone.
  const std::shared_ptr<DiskTier>& disk() const {
    return options_.disk;
  }
  /// All that decides what is found here.
  const Scope& scope() const {
    return scope_text_;
  }
  Clock& clock() const {
    return *options_.clock;
  }

 private:
  struct Disk;
  /// The blocks of a usable prefix; nothing where one cannot be read.
  std::optional<std::vector<std::vector<BlockRef>>> held(const Usable& usable);
  void give_up(const UsableImage& unreadable);
  void drop_cut();
  /// What other processes stored since. A disk that fails is a miss.
  void read_changes();
  /// Tells the disk of what use its part of a row's prefix was.
  void touch(const Usable& usable);
  /// Puts the row in; without room for its open blocks the full ones alone, and
  /// the path is cut to them.
  Inserted insert_row(RowId row, Path& committed);
  FlushReport flush_disk(const FlushOptions& options);
  void make_disk();
  void load();
  /// A record as it is wanted. Throws as put().
  WantedPath wanted(const Path& text, NamedRecord record);
  /// All that RAM may hold.
  Bytes ram() const;
  /// Makes room for the path beside the index, where the budget is shared:
  /// false where there is none.
  bool make_room(const RecordKey& key, const WantedPath& wanted);
  bool put_wanted(WantedPath wanted);
  /// Forgets texts whose state is gone, where they take room.
  void give_up_lost();
  /// The node that ends the text, none where no known one ends there; a use.
  NodeHandle end_of(const Path& text);

  State& state_;
  const PrefixCacheOptions options_;
  const Scope scope_text_;
  PrefixTree tree_;
  const ScopeHandle scope_;
  std::atomic<int64_t> ram_; // options_.ram until set_budget()
  std::atomic<int64_t> failed_reads_{0};
  std::atomic<int64_t> given_up_{0};
  WantedPaths wanted_;
  std::unique_ptr<Disk> disk_;
};

} // namespace holdfast
