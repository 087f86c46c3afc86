// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// For tests of PathStore: a store over a state's tree and a disk in memory,
// with no coordinator. Threads: one, but for the store.

#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "holdfast/prefix/image_planes.h"
#include "holdfast/prefix/path_store.h"
#include "holdfast/prefix/tree_listener.h"
#include "holdfast/prefix/tree_loader.h"
#include "tests/prefix/cache_process.h"
#include "tests/tier/sync_hook.h"

namespace holdfast::test {

/// A store over a state's tree and a disk, with no coordinator. Layers of the
/// state see 20 positions, or all.
struct StoreRig {
  explicit StoreRig(
      Bytes max_disk = Bytes(int64_t{1} << 30),
      const StateOptions& given = options())
      : max_bytes(max_disk), state(given) {
    store.set_planes(std::make_shared<const ImagePlanes>(state.groups()));
  }

  static RecordKey key(int64_t length) {
    return {
        .space = {},
        .tokens =
            std::make_shared<const std::vector<int32_t>>(text_tokens(length)),
        .name = {}};
  }
  /// Puts the first positions of the one text into the tree, as a row of that
  /// length holds them.
  Inserted insert(int64_t length) {
    const RowId row = state.add_row();
    for (int64_t done = 0; done < length; done = state.length(row).get()) {
      const int64_t count = std::min(length - done, state.max_append(row));
      append(row, done, count);
    }
    const auto tokens = text_tokens(length);
    Inserted inserted =
        tree.insert(scope, {tokens}, state.snapshot(row, tokens).row());
    state.remove_row(row);
    return inserted;
  }
  /// The same as wanted; the record where one is given.
  RecordKey want(int64_t length, std::optional<NamedRecord> record = {}) {
    const RecordKey made = key(length);
    wanted.put(
        made,
        {.tokens = made.tokens,
         .marks = {},
         .fresh = insert(length).fresh,
         .state = Position(length),
         .record = std::move(record)});
    return made;
  }
  /// A text of which the tree was given nothing: it is on the disk, or gone.
  RecordKey want_again(int64_t length) {
    const RecordKey made = key(length);
    wanted.put(
        made,
        {.tokens = made.tokens,
         .marks = {},
         .fresh = {{.node = {.index = 99, .generation = 9}, .slots = {}}},
         .state = Position(length),
         .record = {}});
    return made;
  }
  Status write(const RecordKey& made) {
    const auto content = store.make(made);
    return content.ok() ? store.store(made, 1, *content.value())
                        : content.status();
  }

  /// What another process that opens the folder knows of the text.
  int64_t known_to_others(int64_t length) const {
    PrefixTree later;
    load_tree(later, *open()).check();
    const ScopeHandle there =
        later.open(Scope(state.signature()), state.groups().rules());
    return later.known(there, {text_tokens(length)}).get();
  }
  std::unique_ptr<DiskTier> open() const {
    return DiskTier::open({.folder = "/state",
                           .max_bytes = max_bytes,
                           .files = files,
                           .clock = std::make_shared<ManualClock>()})
        .value();
  }

  const Bytes max_bytes;
  Sequence vectors{kLength, 51};
  State state;
  std::function<void(RowId, int64_t, int64_t)> append =
      [this](RowId row, int64_t first, int64_t count) {
        append_to(state, row, {&vectors, first, count});
      };
  std::shared_ptr<MemoryFileSystem> memory = disk();
  std::shared_ptr<SyncHook> files = std::make_shared<SyncHook>(memory);
  std::unique_ptr<DiskTier> tier = open();
  PrefixTree tree;
  TreeListener listener{tree, *tier};
  ScopeHandle scope =
      tree.open(Scope(state.signature()), state.groups().rules());
  WantedPaths wanted;
  PathStore store{
      tree,
      *tier,
      wanted,
      scope,
      std::make_shared<StoredScope>(
          *tier,
          ScopeText{Scope(state.signature()).text()})};
};

} // namespace holdfast::test
