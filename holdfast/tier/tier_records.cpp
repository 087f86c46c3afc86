// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Records: found, read, pinned, removed.

#include <optional>
#include <string>
#include <utility>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/node_table.h"
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
      .record = *record, .scope = {}, .tokens = {}, .marks = {}, .body = {}};
  Statement scope = database.prepare("SELECT text FROM scopes WHERE id = ?");
  if (scope.bind(record->scope.get()).step()) {
    text.scope = scope.text(0);
  }
  for (NodePath::Run& run : path_to(database, record->leaf).runs) {
    text.tokens.insert(text.tokens.end(), run.tokens.begin(), run.tokens.end());
    text.marks.push_back(std::move(run.marks));
  }
  text.tokens.resize(static_cast<size_t>(record->length.get()));
  return text;
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

} // namespace holdfast
