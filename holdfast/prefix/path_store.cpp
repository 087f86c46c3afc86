// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/path_store.h"

#include <utility>

namespace holdfast {

/// Images that are being written.
class PathStore::Content : public RecordContent {
 public:
  Content(
      PathStore& store,
      RecordKey key,
      std::vector<TokenMark> marks,
      WriteBatch batch)
      : store_(store),
        key_(std::move(key)),
        marks_(std::move(marks)),
        batch_(std::move(batch)) {
    for (const NodeToStore& node : batch_.nodes) {
      for (const ImageToStore& image : node.images) {
        bytes_ += image.block.bytes();
      }
    }
  }
  ~Content() override {
    if (!stored_) {
      store_.give_back(
          key_, {std::move(marks_), store_.tree_.not_stored(batch_)});
    }
  }
  Bytes bytes() const override {
    return bytes_;
  }
  const WriteBatch& batch() const {
    return batch_;
  }
  void set_stored(const Stored& stored) const {
    store_.tree_.stored(batch_, stored);
    stored_ = true;
  }

 private:
  PathStore& store_;
  const RecordKey key_;
  std::vector<TokenMark> marks_;
  WriteBatch batch_;
  Bytes bytes_;
  mutable bool stored_ = false; // one store is at work on it at a time
};

PathStore::PathStore(
    PrefixTree& tree,
    DiskTier& disk,
    ScopeHandle scope,
    ScopeId stored_scope,
    const LayerGroups& groups)
    : tree_(tree), disk_(disk), scope_(scope), stored_scope_(stored_scope) {
  for (const LayerGroup& group : groups.groups()) {
    auto& phases = planes_.emplace_back();
    for (const GroupPhase& phase : group.phases) {
      phases.push_back(phase.layout.plane_strides());
    }
  }
}

void PathStore::wants(
    const RecordKey& key,
    std::span<const TokenMark> marks,
    std::vector<FreshImages> fresh) {
  give_back(key, {{marks.begin(), marks.end()}, std::move(fresh)});
}

void PathStore::give_back(const RecordKey& key, Wanted wanted) {
  if (wanted.fresh.empty()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  Wanted& all = wanted_[key];
  all.marks = std::move(wanted.marks);
  all.fresh.insert(all.fresh.end(), wanted.fresh.begin(), wanted.fresh.end());
}

bool PathStore::is_whole(const RecordKey& key, std::span<const TokenMark> marks)
    const {
  // A lookup leaves one token to compute: one that stands for no text.
  std::vector<int32_t> tokens(*key.tokens);
  tokens.push_back(-1);
  return tree_.why(scope_, {tokens, marks}).usable ==
      Position(std::ssize(*key.tokens));
}

Result<std::shared_ptr<const RecordContent>>
PathStore::make(const RecordKey& key) {
  Wanted wanted;
  {
    const std::lock_guard lock(mutex_);
    const auto found = wanted_.find(key);
    if (found != wanted_.end()) {
      wanted = std::move(found->second);
      wanted_.erase(found);
    }
  }
  const bool whole = is_whole(key, wanted.marks);
  WriteBatch batch = tree_.begin_write(wanted.fresh);
  for (NodeToStore& node : batch.nodes) {
    for (ImageToStore& image : node.images) {
      image.planes = planes_[static_cast<size_t>(image.slot.group)]
                            [static_cast<size_t>(image.slot.phase)];
    }
  }
  auto content = std::make_shared<Content>(
      *this, key, std::move(wanted.marks), std::move(batch));
  if (!whole) {
    return Status(
        ErrorCode::kNotFound,
        "[prefix] expected the whole state of a text to write, got a part: it "
        "was evicted from RAM");
  }
  return std::shared_ptr<const RecordContent>(std::move(content));
}

Status
PathStore::store(const RecordKey&, uint64_t, const RecordContent& content) {
  const auto& mine = static_cast<const Content&>(content);
  if (mine.batch().nodes.empty()) {
    mine.set_stored({}); // the disk has all of it
    return {};
  }
  Result<Stored> stored = disk_.store(
      {.scope = stored_scope_, .nodes = mine.batch().nodes, .record = {}});
  if (!stored.ok()) {
    return stored.status();
  }
  mine.set_stored(stored.value());
  const std::lock_guard lock(mutex_);
  written_ += stored.value().written;
  return {};
}

// A content without images is what says that all is on disk.
bool PathStore::is_durable(const RecordKey&, uint64_t) {
  return false;
}

// Nodes are shared: a longer path's store wrote the images of this one.
bool PathStore::is_covered(const RecordKey&) {
  return false;
}

Bytes PathStore::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

} // namespace holdfast
