// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// DiskTier: what is forgotten goes with its bytes.

#include <optional>
#include <utility>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/node_table.h"
#include "holdfast/tier/object_table.h"
#include "holdfast/tier/record_table.h"
#include "holdfast/tier/text_removal.h"

namespace holdfast {

namespace {

/// Removes nodes from the leaf up, as long as nothing else needs them.
void remove_unshared(
    Database& database,
    const TextRemoval& texts,
    NodeId id,
    Removed& removed) {
  while (id != NodeId()) {
    const std::optional<NodeRow> node = find_node(database, id);
    if (!node || node->children > 0 || node->pinned || texts.keeps(id) ||
        !records_on(database, id).empty()) {
      return;
    }
    remove_leaf(database, *node, removed);
    id = node->parent;
  }
}

void forget_all_of(
    Database& database,
    const ForgetRequest& request,
    Forgotten& forgotten) {
  std::vector<NodeId> leaves;
  for (const RecordName& name : request.records) {
    if (const auto record = find_record(database, name)) {
      leaves.push_back(record->leaf);
      remove_record_row(database, name);
      forgotten.removed.records.push_back(name);
    }
  }
  TextRemoval texts(database);
  for (const auto& text : request.kept) {
    texts.keep(text);
  }
  for (const auto& text : request.texts) {
    texts.take(text);
  }
  texts.remove(forgotten);
  for (const NodeId leaf : leaves) {
    remove_unshared(database, texts, leaf, forgotten.removed);
  }
}

/// Everything but the scopes.
void remove_all(Database& database, Removed& removed) {
  for (const StoredRecord& record : all_records(database, nullptr)) {
    remove_record_row(database, record.name);
    removed.records.push_back(record.name);
  }
  for (const NodeId first : children_of(database, NodeId())) {
    remove_subtree(database, first, removed);
  }
  for (const ObjectRow& object : all_objects(database)) {
    remove_object_row(database, object);
    ++removed.objects;
  }
  erase_dead(database);
}

} // namespace

Result<Forgotten> DiskTier::forget(const ForgetRequest& request) {
  return core_->run([&] {
    Forgotten forgotten;
    Removed before;
    core_->remove_set_aside(before);
    core_->expire_records(before); // nobody sees them, and they need texts too
    forgotten.removed = core_->remove([&](Removed& gone) {
      forget_all_of(core_->database(), request, forgotten);
      erase_dead(core_->database());
      gone = std::move(forgotten.removed);
    });
    forgotten.removed.add(before);
    forgotten.removed.freed += before.freed;
    return forgotten;
  });
}

Result<Removed> DiskTier::forget(const RecordName& name) {
  Result<Forgotten> forgotten =
      forget(ForgetRequest{.records = {name}, .texts = {}, .kept = {}});
  return forgotten.ok() ? Result<Removed>(std::move(forgotten).value().removed)
                        : Result<Removed>(forgotten.status());
}

Result<Removed> DiskTier::forget_all() {
  return core_->run([&] {
    Removed files;
    core_->remove_set_aside(files);
    Removed removed = core_->remove(
        [&](Removed& gone) { remove_all(core_->database(), gone); });
    removed.freed += files.freed;
    return removed;
  });
}

} // namespace holdfast
