// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/path_store.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "holdfast/prefix/tree_loader.h"

namespace holdfast {

namespace {

/// Each may lose a node to an eviction of another store meanwhile.
constexpr int kAttempts = 5;

RecordToStore record_to_store(const PathContent& content) {
  const WantedPath& wanted = content.wanted();
  const NamedRecord& record = *wanted.record;
  RecordToStore result;
  result.space = record.name.space;
  result.name = record.name.name;
  result.leaf_in_batch = content.write().leaf_in_batch;
  result.leaf = content.write().leaf;
  result.length = Position(std::ssize(*wanted.tokens));
  result.body = record.body.encode();
  result.pinned = record.pinned;
  result.expires_ns = record.expires_ns;
  result.replaces_prefixes = record.replaces_prefixes;
  return result;
}

} // namespace

PathStore::PathStore(
    PrefixTree& tree,
    DiskTier& disk,
    WantedPaths& wanted,
    ScopeHandle scope,
    std::shared_ptr<StoredScope> stored_scope)
    : tree_(tree),
      disk_(disk),
      wanted_(wanted),
      scope_(scope),
      stored_scope_(std::move(stored_scope)) {}

Result<std::shared_ptr<const RecordContent>>
PathStore::make(const RecordKey& key) {
  auto wanted = wanted_.find(key);
  if (!wanted) {
    return Status(
        ErrorCode::kNotFound,
        "[prefix] expected a text that was put, got none");
  }
  disk_.drop_cut();
  auto content =
      std::make_shared<const PathContent>(tree_, scope_, std::move(wanted));
  if (!content->is_whole()) {
    wanted_.lost(key, content->wanted());
    return Status(
        ErrorCode::kNotFound,
        "[prefix] expected the whole state of a text to write, got a part: it "
        "was evicted from RAM");
  }
  return std::shared_ptr<const RecordContent>(std::move(content));
}

Status
PathStore::store(const RecordKey& key, uint64_t, const RecordContent& content) {
  const auto& mine = static_cast<const PathContent&>(content);
  Status status = write(mine);
  if (status.ok()) {
    wanted_.done(key, mine.wanted());
  }
  return status;
}

Status PathStore::write(const PathContent& mine) {
  Result<Stored> stored = attempt(mine);
  const auto lacks_some = [&] {
    const ErrorCode code = stored.status().code();
    return code == ErrorCode::kNotFound || code == ErrorCode::kCorrupt;
  };
  for (int left = kAttempts - 1; left > 0 && !stored.ok() && lacks_some();
       --left) {
    // A node that it builds on went: superseded, or evicted; or all went with a
    // manifest that was set aside, the scope too. Or a file was cut short that
    // an image was mapped from.
    disk_.drop_cut();
    if (Status status = stored_scope_->renew(); !status.ok()) {
      return status;
    }
    if (Status status = load_tree(tree_, disk_); !status.ok()) {
      return status;
    }
    mine.renew();
    if (!mine.is_whole()) { // RAM let go of it, too
      // Durability asks make(), and calls it missing.
      return Status(
          ErrorCode::kNotFound,
          "[prefix] expected state to write, got some that was evicted or cut "
          "short meanwhile");
    }
    stored = attempt(mine);
  }
  if (!stored.ok()) {
    return stored.status();
  }
  const std::lock_guard lock(mutex_);
  written_ += stored.value().written;
  return {};
}

Result<Stored> PathStore::attempt(const PathContent& content) {
  StoreBatch batch{
      .scope = stored_scope_->id(),
      .nodes = content.write().batch.nodes,
      .record = {}};
  planes_->fill(batch.nodes);
  if (content.wanted().record) {
    const auto& beyond = content.write().beyond;
    batch.nodes.insert(batch.nodes.end(), beyond.begin(), beyond.end());
    batch.record = record_to_store(content);
  } else if (batch.nodes.empty()) {
    const Status all = all_there(content);
    return all.ok() ? Result<Stored>(Stored()) : all;
  }
  Result<Stored> stored = disk_.store(batch, [&](const Stored& now) {
    Stored nodes = now;
    const size_t known = content.write().batch.nodes.size();
    nodes.nodes.resize(known); // none beyond the tree's
    nodes.images.resize(known);
    content.set_stored(nodes);
  });
  // A store needs the nodes before those of its batch, and a record's last one.
  if (stored.ok() && !batch.record && content.write().leaf_in_batch < 0) {
    if (const Status rest = all_there(content); !rest.ok()) {
      return rest;
    }
  }
  return stored;
}

Status PathStore::all_there(const PathContent& content) {
  const Result<bool> there = is_on_disk(content.wanted().path());
  if (there.ok() && !there.value()) {
    return Status(
        ErrorCode::kNotFound,
        "[prefix] expected state that the disk has, got a part: it was "
        "evicted");
  }
  return there.status();
}

// The tree hears what this process takes off the disk, and not what others do.
Result<bool> PathStore::is_on_disk(const Path& path) {
  const auto images = tree_.stored_images(scope_, path);
  return images ? disk_.has(*images) : Result<bool>(false);
}

// What a put wants stays wanted until it is stored.
bool PathStore::is_durable(const RecordKey& key, uint64_t) {
  const auto wanted = wanted_.find(key);
  if (!wanted) {
    return true;
  }
  disk_.drop_cut();
  return !wanted->record && wanted->fresh.empty() && done(key, *wanted);
}

// Nodes are shared, so a longer path's store may have written this one; but
// nobody else writes a record.
bool PathStore::is_covered(const RecordKey& key) {
  const auto wanted = wanted_.find(key);
  if (!wanted) {
    return true;
  }
  return !wanted->record && done(key, *wanted);
}

bool PathStore::done(const RecordKey& key, const WantedPath& wanted) {
  const Result<bool> there = is_on_disk(wanted.path());
  if (!there.ok() || !there.value()) {
    return false;
  }
  wanted_.done(key, wanted);
  return true;
}

bool PathStore::is_kept(const WantedPath& wanted) {
  if (wanted.record && disk_.record(wanted.record->name).ok()) {
    return true; // its nodes go no sooner
  }
  if (wanted.state == Position(0)) {
    return false;
  }
  std::vector<TokenMark> marks;
  std::ranges::copy_if(
      wanted.marks, std::back_inserter(marks), [&](const TokenMark& mark) {
        return mark.end <= wanted.state;
      });
  const Result<bool> there = is_on_disk(
      {std::span(*wanted.tokens).first(static_cast<size_t>(wanted.state.get())),
       marks});
  return there.ok() && there.value();
}

Bytes PathStore::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

} // namespace holdfast
