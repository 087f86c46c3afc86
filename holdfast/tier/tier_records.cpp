// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Records: found, read, pinned, removed, forgotten.

#include <optional>
#include <string>
#include <utility>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/node_table.h"
#include "holdfast/tier/object_table.h"
#include "holdfast/tier/record_path.h"
#include "holdfast/tier/record_table.h"
#include "holdfast/tier/tier_map.h"

namespace holdfast {

namespace {

Status no_record(const RecordName& name) {
  return Status(
      ErrorCode::kNotFound,
      "[DiskTier] expected a record " + name.space + "/" + name.name +
          ", got none");
}

/// Changes one column of one record.
Status set_column(
    DiskTierCore& core,
    const RecordName& name,
    const char* sql,
    int64_t value) {
  bool there = false;
  const Status status = core.run([&] {
    ManifestTransaction transaction(core.database());
    core.database()
        .prepare(sql)
        .bind(value)
        .bind(bytes_of_text(name.space))
        .bind(bytes_of_text(name.name))
        .run();
    there = core.database().changes() > 0;
    transaction.commit();
  });
  return status.ok() && !there ? no_record(name) : status;
}

/// All of a record but its body.
std::optional<RecordText>
find_text(Database& database, const RecordName& name) {
  const std::optional<StoredRecord> record = find_record(database, name);
  if (!record) {
    return std::nullopt;
  }
  RecordText text{
      .record = *record,
      .scope = {},
      .tokens = {},
      .marks = {},
      .keys = {},
      .rest = {},
      .body = {}};
  Statement scope = database.prepare("SELECT text FROM scopes WHERE id = ?");
  if (scope.bind(record->scope.get()).step()) {
    text.scope = scope.text(0);
  }
  NodePath path = path_to(database, record->leaf);
  for (NodePath::Run& run : path.runs) {
    text.tokens.insert(text.tokens.end(), run.tokens.begin(), run.tokens.end());
    text.marks.push_back(run.marks);
    text.keys.push_back(run.key);
  }
  const auto length = static_cast<size_t>(record->length.get());
  const size_t leaf = path.runs.empty() ? 0 : path.runs.back().tokens.size();
  require_row(
      length <= text.tokens.size() &&
          length + leaf >= text.tokens.size() + (leaf > 0),
      "a record that ends in its leaf");
  text.rest.assign(
      text.tokens.begin() + static_cast<std::ptrdiff_t>(length),
      text.tokens.end());
  text.tokens.resize(length);
  return text;
}

/// Removes nodes from the leaf up, as long as nothing else needs them.
void remove_unshared(Database& database, NodeId id, Removed& removed) {
  while (id != NodeId()) {
    const std::optional<NodeRow> node = find_node(database, id);
    if (!node || node->children > 0 || node->pinned ||
        !records_on(database, id).empty()) {
      return;
    }
    remove_leaf(database, *node, removed);
    id = node->parent;
  }
}

} // namespace

Result<StoredRecord> DiskTier::record(const RecordName& name) {
  Result<std::optional<StoredRecord>> found =
      core_->run([&] { return find_record(core_->database(), name); });
  if (!found.ok()) {
    return found.status();
  }
  return found.value() ? Result<StoredRecord>(*found.value())
                       : Result<StoredRecord>(no_record(name));
}

Result<std::vector<StoredRecord>> DiskTier::records(std::string_view space) {
  return core_->run([&] { return all_records(core_->database(), &space); });
}

Result<std::vector<StoredRecord>> DiskTier::records() {
  return core_->run([&] { return all_records(core_->database(), nullptr); });
}

Result<RecordText> DiskTier::record_text(const RecordName& name) {
  // A body that was replaced between the two looks is looked for again.
  for (int tries = 4;; --tries) {
    Result<std::optional<RecordText>> found =
        core_->run([&] { return find_text(core_->database(), name); });
    if (!found.ok()) {
      return found.status();
    }
    if (!found.value()) {
      return no_record(name);
    }
    RecordText text = std::move(*found.value());
    const Result<MappedImage> body =
        map_extent(*core_, text.record.body, core_->options.verify);
    if (body.ok()) {
      const auto bytes = body.value().bytes();
      text.body.assign(
          reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return text;
    }
    if (body.status().code() != ErrorCode::kNotFound || tries == 1) {
      return body.status();
    }
  }
}

Result<std::string> DiskTier::record_body(const RecordName& name) {
  const Result<StoredRecord> found = record(name);
  if (!found.ok()) {
    return found.status();
  }
  const Result<MappedImage> body =
      map_extent(*core_, found.value().body, core_->options.verify);
  if (!body.ok()) {
    return body.status();
  }
  const auto bytes = body.value().bytes();
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!body.value().intact()) {
    return Status(
        ErrorCode::kCorrupt,
        "[DiskTier] expected the body of record " + name.name +
            ", got a segment that was cut short");
  }
  return text;
}

Status DiskTier::pin_record(const RecordName& name, bool pinned) {
  return set_column(
      *core_,
      name,
      "UPDATE records SET pinned = ? WHERE space = ? AND name = ?",
      int64_t{pinned});
}

Status DiskTier::expire_record(const RecordName& name, int64_t wall_ns) {
  return set_column(
      *core_,
      name,
      "UPDATE records SET expires_ns = ? WHERE space = ? AND name = ?",
      wall_ns);
}

Result<Removed> DiskTier::remove_record(const RecordName& name) {
  return core_->run([&] {
    Removed removed;
    if (find_record(core_->database(), name)) {
      ManifestTransaction transaction(core_->database());
      remove_record_row(core_->database(), name);
      transaction.commit();
      removed.records.push_back(name);
    }
    core_->sweep(removed);
    return removed;
  });
}

Result<Removed> DiskTier::forget(const RecordName& name) {
  return core_->run([&] {
    Removed removed;
    if (const auto record = find_record(core_->database(), name)) {
      ManifestTransaction transaction(core_->database());
      remove_record_row(core_->database(), name);
      removed.records.push_back(name);
      remove_unshared(core_->database(), record->leaf, removed);
      erase_dead(core_->database());
      transaction.commit();
    }
    core_->sweep(removed);
    return removed;
  });
}

Result<Removed> DiskTier::forget_all() {
  return core_->run([&] {
    Removed removed;
    Database& database = core_->database();
    ManifestTransaction transaction(database);
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
    transaction.commit();
    core_->sweep(removed);
    return removed;
  });
}

} // namespace holdfast
