// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Processes with one row that keep its checkpoints in a disk tier. One thread.

#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/prefix/generation_store.h"
#include "holdfast/prefix/tree_listener.h"
#include "holdfast/prefix/tree_loader.h"
#include "holdfast/tier/continuations.h"
#include "tests/state/layers.h"

namespace holdfast::test {

inline constexpr int64_t kTokens = 400;

inline std::vector<int32_t> counted(int64_t tokens) {
  std::vector<int32_t> result(static_cast<size_t>(tokens));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

struct RigChoice {
  Bytes max_bytes{int64_t{1} << 30}; // of the disk
  Bytes most_bytes{int64_t{1} << 25}; // of a checkpoint's images
  std::string tenant = {};
};

/// Its stream's thread stays until the program ends, so there is one for all.
inline State& shared_state() {
  static State state(options());
  return state;
}

/// The checkpoint that a process which opens the folder finds.
inline std::string stored_body(DiskTier& disk, const std::string& key = "k") {
  const auto found = disk.record_text({"generation", key});
  return found.ok()
      ? RecordBody::parse(found.value().body).value().find("b")->bytes
      : name(found.status().code());
}

inline std::unique_ptr<DiskTier>
open_disk(const std::shared_ptr<FileSystem>& files) {
  return DiskTier::open({.folder = "/state",
                         .files = files,
                         .clock = std::make_shared<ManualClock>()})
      .value();
}

/// A process with one row; its queue has no writers, so the calls of a flush
/// come in one order.
class Rig {
 public:
  explicit Rig(const std::shared_ptr<FileSystem>& files, RigChoice choice = {})
      : state_(shared_state()),
        disk_(DiskTier::open({.folder = "/state",
                              .max_bytes = choice.max_bytes,
                              .files = files,
                              .clock = clock_})
                  .value()),
        scope_text_(state_.signature()),
        scope_(tree_.open(scope_text_, state_.groups().rules())),
        store_(
            {.tree = tree_,
             .disk = *disk_,
             .scope = scope_,
             .stored_scope = std::make_shared<StoredScope>(
                 *disk_,
                 ScopeText{scope_text_.text()}),
             .planes = std::make_shared<const ImagePlanes>(state_.groups()),
             .tenant_salt = choice.tenant,
             .most_bytes = choice.most_bytes}),
        queue_({.clock = clock_, .writers = 0}),
        continuations_(queue_, store_, clock_),
        row_(state_.add_row()) {
    state_.keep_sealed(row_, true);
  }
  ~Rig() {
    state_.remove_row(row_);
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  /// Computes the row up to that length.
  void grow(int64_t length) {
    const int64_t from = state_.length(row_).get();
    append_to(state_, row_, {&vectors_, from, length - from});
    std::vector<GivenImage> images;
    for (const SealedBlock& block : state_.take_sealed(row_)) {
      images.push_back(
          {block.index,
           {static_cast<int32_t>(block.group),
            static_cast<int32_t>(block.phase)},
           block.block});
    }
    const auto tokens = counted(length / kBlockTokens * kBlockTokens);
    if (!tokens.empty()) {
      tree_.insert(scope_, {tokens}, images);
    }
  }
  Continuation begin(const std::string& key = "k") {
    return continuations_.begin(key).value();
  }
  /// Queues a checkpoint of the row.
  Enqueued save(Continuation& attempt, const std::string& body) {
    const std::vector<std::vector<int32_t>> paths{
        counted(state_.length(row_).get())};
    return attempt.checkpoint(
        {.content = store_.content(paths, RecordBody().set("b", {1, body})),
         .tokens = state_.length(row_),
         .generated = Position(1)});
  }
  std::string body(const std::string& key = "k") {
    const auto found = store_.body(key);
    return found.ok() ? found.value().find("b")->bytes
                      : name(found.status().code());
  }
  ContinuationReport flush() {
    return continuations_.flush();
  }
  Continuations& continuations() {
    return continuations_;
  }
  DiskTier& disk() {
    return *disk_;
  }
  /// Into segments.
  Bytes written() const {
    return store_.written();
  }
  /// Of the row's tokens, those that a lookup finds.
  Position usable() {
    auto tokens = counted(state_.length(row_).get());
    tokens.push_back(-1);
    return tree_.why(scope_, {tokens}).usable;
  }
  /// Of the text's first tokens, those that the disk knows.
  Position usable_of(int64_t tokens) {
    load_tree(tree_, *disk_).check();
    return tree_.known(scope_, {counted(tokens)});
  }
  const PrefixTree& tree() const {
    return tree_;
  }

 private:
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  const Sequence vectors_{kTokens, 3};
  State& state_;
  std::unique_ptr<DiskTier> disk_;
  const Scope scope_text_;
  PrefixTree tree_;
  TreeListener listener_{tree_, *disk_};
  const ScopeHandle scope_;
  GenerationStore store_;
  SpillQueue queue_;
  Continuations continuations_;
  const RowId row_;
};

} // namespace holdfast::test
