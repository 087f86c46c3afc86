// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// PrefixCache: texts that have a name.

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/base/key_hash.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/prefix/prefix_cache_disk.h"

namespace holdfast {

namespace {

constexpr std::string_view kMarksPart = ".marks"; // of a record's body
constexpr uint32_t kMarksVersion = 1;

/// A record's key has no tokens: they change from one put to the next.
RecordKey key_of(const RecordName& name) {
  static const auto none = std::make_shared<const std::vector<int32_t>>();
  return {.space = name.space, .tokens = none, .name = name.name};
}

/// The same body without what is the cache's own.
RecordBody users_body(const RecordBody& body) {
  RecordBody result = body;
  result.remove(kMarksPart);
  return result;
}

KnownRecord known_of(const WantedPath& wanted, uint64_t version) {
  const NamedRecord& record = *wanted.record;
  return {
      .facts =
          {.name = record.name,
           .version = version,
           .length = Position(std::ssize(*wanted.tokens)),
           .pinned = record.pinned,
           .on_disk = false,
           .stored_ns = wanted.put_ns,
           .expires_ns = record.expires_ns},
      .tokens = *wanted.tokens,
      .marks = wanted.marks,
      .body = users_body(record.body)};
}

RecordFacts facts_of(const StoredRecord& record) {
  return {
      .name = record.name,
      .version = record.version,
      .length = record.length,
      .pinned = record.pinned,
      .on_disk = true,
      .stored_ns = record.stored_ns,
      .expires_ns = record.expires_ns};
}

/// The marks that a record's body has, where they are those of its nodes.
Result<std::vector<TokenMark>>
marks_of(const RecordText& text, const RecordBody& body) {
  const Status bad(
      ErrorCode::kCorrupt,
      "[prefix] expected the marks of a record's nodes in its body, got "
      "others");
  std::vector<TokenMark> marks;
  if (const RecordBody::Part* part = body.find(kMarksPart)) {
    auto parsed = parse_marks(part->bytes);
    if (part->version != kMarksVersion || !parsed) {
      return bad;
    }
    marks = std::move(*parsed);
  }
  const Path path{text.tokens, marks};
  try {
    require_path(path, "[prefix]");
  } catch (const Error&) {
    return bad;
  }
  const PathBlocks blocks(path);
  for (int64_t block = 0; block < blocks.count(); ++block) {
    const BlockText own = blocks[block];
    const std::string& stored = text.marks[static_cast<size_t>(block)];
    if (leading({own.tokens, stored}, own.size()).marks != own.marks) {
      return bad;
    }
  }
  return marks;
}

/// Whether the nodes of a record have the keys of its text.
bool is_own_text(const RecordText& text, const Scope& scope) {
  std::vector<int32_t> tokens = text.tokens;
  tokens.insert(tokens.end(), text.rest.begin(), text.rest.end());
  Key128 key = scope.root();
  std::span<const int32_t> left = tokens;
  for (size_t block = 0; block < text.keys.size(); ++block) {
    const auto run =
        left.first(std::min(left.size(), static_cast<size_t>(kBlockTokens)));
    key = chained_key(key, run, text.marks[block]);
    if (key != text.keys[block]) {
      return false;
    }
    left = left.subspan(run.size());
  }
  return true;
}

} // namespace

WantedPath PrefixCache::wanted(const Path& text, NamedRecord record) {
  require_path(text, "[PrefixCache::put]");
  expect(
      !record.name.space.empty() && !record.name.name.empty(),
      "[PrefixCache::put] expected a record with a space and a name, got none");
  for (const auto& [name, part] : record.body.parts()) {
    expect(
        !name.starts_with('.'),
        "[PrefixCache::put] expected parts whose names do not begin with '.', "
        "got one that does");
  }
  if (!text.marks.empty()) {
    record.body.set(
        kMarksPart,
        {.version = kMarksVersion, .bytes = encode_marks(text.marks)});
  }
  WantedPath wanted{
      .tokens = std::make_shared<const std::vector<int32_t>>(
          text.tokens.begin(), text.tokens.end()),
      .marks = {text.marks.begin(), text.marks.end()},
      .fresh = {},
      .state = {},
      .record = std::move(record),
      .put_ns = options_.clock->wall_ns()};
  const RecordKey key = key_of(wanted.record->name);
  const Bytes needed = wanted_.bytes_with(key, wanted);
  if (needed > ram() || !make_room(key, wanted)) {
    throw Error(
        ErrorCode::kOutOfBudget,
        "[PrefixCache::put] expected records of at most " +
            std::to_string(ram().get()) + " bytes in RAM, got " +
            std::to_string(needed.get()) + " beside what is in use");
  }
  return wanted;
}

bool PrefixCache::put_wanted(WantedPath wanted) {
  const bool tokens = !wanted.tokens->empty();
  const bool body = !wanted.record->body.empty();
  if (!tokens && !body) {
    return false;
  }
  const RecordKey key = key_of(wanted.record->name);
  wanted_.put(key, std::move(wanted));
  if (disk_) {
    disk_->durability.put(key, {.attachments = true});
  }
  return true;
}

void PrefixCache::put(RowId row, Path committed, NamedRecord record) {
  WantedPath next = wanted(committed, std::move(record));
  const WantedPaths::Reserved room(wanted_, key_of(next.record->name), next);
  grew(row, committed);
  Path kept = committed;
  next.fresh = insert_row(row, kept).fresh;
  next.state = tree_.known(scope_, committed);
  put_wanted(std::move(next));
}

bool PrefixCache::put(const Path& text, NamedRecord record) {
  WantedPath next = wanted(text, std::move(record));
  const WantedPaths::Reserved room(wanted_, key_of(next.record->name), next);
  next.state = tree_.known(scope_, text);
  return put_wanted(std::move(next));
}

Result<KnownRecord> PrefixCache::record(const RecordName& name) {
  const auto waiting = wanted_.find(key_of(name));
  if (!disk_) {
    return waiting ? Result<KnownRecord>(known_of(*waiting, waiting->version))
                   : Result<KnownRecord>(Status(
                         ErrorCode::kNotFound,
                         "[PrefixCache] expected a record " + name.space + "/" +
                             name.name + ", got none"));
  }
  if (waiting) {
    const Result<StoredRecord> stored = options_.disk->record(name);
    return known_of(*waiting, stored.ok() ? stored.value().version + 1 : 1);
  }
  Result<RecordText> found = options_.disk->record_text(name);
  if (!found.ok()) {
    return found.status();
  }
  RecordText& text = found.value();
  const Result<RecordBody> body = RecordBody::parse(text.body);
  if (!body.ok()) {
    return body.status();
  }
  Result<std::vector<TokenMark>> marks = marks_of(text, body.value());
  if (!marks.ok()) {
    return marks.status();
  }
  const Result<Scope> scope = Scope::parse(text.scope);
  if (scope.ok() && !is_own_text(text, scope.value())) {
    return Status(
        ErrorCode::kCorrupt,
        "[prefix] expected a record whose nodes have the keys of their "
        "tokens, got " +
            name.space + "/" + name.name);
  }
  KnownRecord known{
      .facts = facts_of(text.record),
      .tokens = std::move(text.tokens),
      .marks = std::move(marks).value(),
      .body = users_body(body.value())};
  if (text.scope != scope_text_.text()) {
    known.facts.other_scope = scope.ok()
        ? scope_text_.difference(scope.value()).value_or("another scope")
        : "another scope";
  }
  return known;
}

Result<std::vector<RecordFacts>> PrefixCache::records(std::string_view space) {
  std::map<std::string, RecordFacts> found;
  if (disk_) {
    const Result<std::vector<StoredRecord>> stored =
        options_.disk->records(space);
    if (!stored.ok()) {
      return stored.status();
    }
    for (const StoredRecord& record : stored.value()) {
      RecordFacts facts = facts_of(record);
      if (record.scope != disk_->store->stored_scope()) {
        facts.other_scope = "another scope";
      }
      found[record.name.name] = std::move(facts);
    }
  }
  for (const WantedPaths::Shared& wanted : wanted_.records(space)) {
    RecordFacts& facts = found[wanted->record->name.name];
    const uint64_t version = disk_ ? facts.version + 1 : wanted->version;
    facts = known_of(*wanted, version).facts;
  }
  std::vector<RecordFacts> result;
  for (auto& [name, facts] : found) {
    result.push_back(std::move(facts));
  }
  return result;
}

Status PrefixCache::remove_record(const RecordName& name) {
  const RecordKey key = key_of(name);
  if (!disk_) {
    wanted_.remove(key);
    return {};
  }
  disk_->durability.forget(key);
  wanted_.remove(key);
  return options_.disk->remove_record(name).status();
}

} // namespace holdfast
