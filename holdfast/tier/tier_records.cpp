// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Records: found, read, pinned, removed.

#include <optional>
#include <string>
#include <utility>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/node_table.h"
#include "holdfast/tier/over_records.h"
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

/// In an access: the record, unless its time is over.
std::optional<StoredRecord>
current(DiskTierCore& core, const RecordName& name) {
  std::optional<StoredRecord> record = find_record(core.database(), name);
  if (record && OverRecords(core).contains(*record)) {
    record.reset();
  }
  return record;
}

std::vector<StoredRecord>
all_current(DiskTierCore& core, const std::string_view* space) {
  std::vector<StoredRecord> records = all_records(core.database(), space);
  OverRecords over(core);
  std::erase_if(
      records, [&](const StoredRecord& each) { return over.contains(each); });
  return records;
}

/// All of a record but its body.
std::optional<RecordText>
find_text(DiskTierCore& core, const RecordName& name) {
  Database& database = core.database();
  const std::optional<StoredRecord> record = current(core, name);
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

/// A copy of its body, which is asked for after the copying whether it is
/// whole.
Result<std::string> body_of(DiskTierCore& core, const StoredRecord& record) {
  if (record.body_lost) {
    return Status(
        ErrorCode::kCorrupt,
        "[DiskTier] expected the body of record " + record.name.name +
            ", got one that was damaged, and dropped");
  }
  const Result<MappedImage> body =
      map_extent(core, record.body, core.options.verify);
  if (!body.ok()) {
    return body.status();
  }
  const auto bytes = body.value().bytes();
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!body.value().intact()) {
    return Status(
        ErrorCode::kCorrupt,
        "[DiskTier] expected the body of record " + record.name.name +
            ", got a segment that was cut short");
  }
  return text;
}

} // namespace

Result<StoredRecord> DiskTier::record(const RecordName& name) {
  Result<std::optional<StoredRecord>> found =
      core_->run([&] { return current(*core_, name); });
  if (!found.ok()) {
    return found.status();
  }
  return found.value() ? Result<StoredRecord>(*found.value())
                       : Result<StoredRecord>(no_record(name));
}

Result<std::vector<StoredRecord>> DiskTier::records(std::string_view space) {
  return core_->run([&] { return all_current(*core_, &space); });
}

Result<std::vector<StoredRecord>> DiskTier::records() {
  return core_->run([&] { return all_current(*core_, nullptr); });
}

Result<RecordText> DiskTier::record_text(const RecordName& name) {
  // A body that was replaced between the two looks is looked for again.
  for (int tries = 4;; --tries) {
    Result<std::optional<RecordText>> found =
        core_->run([&] { return find_text(*core_, name); });
    if (!found.ok()) {
      return found.status();
    }
    if (!found.value()) {
      return no_record(name);
    }
    RecordText text = std::move(*found.value());
    Result<std::string> body = body_of(*core_, text.record);
    if (body.ok()) {
      text.body = std::move(body).value();
      return text;
    }
    if (body.status().code() != ErrorCode::kNotFound || tries == 1) {
      return body.status();
    }
  }
}

Result<RecordText> DiskTier::record_tokens(const RecordName& name) {
  Result<std::optional<RecordText>> found =
      core_->run([&] { return find_text(*core_, name); });
  if (!found.ok()) {
    return found.status();
  }
  return found.value() ? Result<RecordText>(std::move(*found.value()))
                       : Result<RecordText>(no_record(name));
}

Result<std::string> DiskTier::record_body(const RecordName& name) {
  const Result<StoredRecord> found = record(name);
  if (!found.ok()) {
    return found.status();
  }
  return body_of(*core_, found.value());
}

Status DiskTier::pin_record(const RecordName& name, bool pinned) {
  bool there = false;
  const Status status = core_->run([&] {
    there = current(*core_, name).has_value();
    if (there) {
      ManifestTransaction transaction(core_->database());
      pin_record_row(core_->database(), name, pinned);
      transaction.commit();
    }
  });
  return status.ok() && !there ? no_record(name) : status;
}

Result<Removed> DiskTier::remove_record(const RecordName& name) {
  return core_->run([&] {
    return core_->remove([&](Removed& removed) {
      if (find_record(core_->database(), name)) {
        remove_record_row(core_->database(), name);
        removed.records.push_back(name);
      }
    });
  });
}

} // namespace holdfast
