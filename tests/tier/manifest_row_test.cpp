// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Every column of every table of the manifest, wrong under page checksums that
// are right, as a program that is wrong would leave it. A miss, a refusal with
// a code or a manifest that is set aside: never other bytes, never the end of
// the process, never a tier that no longer stores.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/base/key_hash.h"
#include "holdfast/block/layout.h"
#include "tests/tier/manifest_sql.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

const ScopeText kScope{"model a"};
constexpr const char* kPath = "/state/manifest.db";

/// What a column may be made; SQL, so that it may start from what was there.
/// {} is the column.
constexpr const char* kNumbers[] = {
    "NULL",
    "0",
    "-1",
    "{} + 1",
    "{} + 4096",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "'text'",
};
constexpr const char* kBytes[] = {
    "NULL",
    "0",
    "'text'",
    "x''",
    "x'0001020304'",
    "zeroblob(260)",
};

std::string with(std::string text, const std::string& column) {
  for (size_t at; (at = text.find("{}")) != std::string::npos;) {
    text.replace(at, 2, column);
  }
  return text;
}

std::string chat_name(int chat) {
  return "chat " + std::to_string(chat);
}

/// What a prefix index believes of a tier: a node whose key is that of its path
/// has the images of that path.
class Believer : public TierVisitor {
 public:
  void begin() override {
    paths_.clear();
    images.clear();
  }
  void scope(ScopeId, const ScopeText&) override {}
  void node(StoredNode node) override {
    Tokens path;
    if (node.parent != NodeId()) {
      const auto parent = paths_.find(node.parent);
      if (parent == paths_.end()) {
        return;
      }
      path = parent->second;
    }
    path.insert(path.end(), node.tokens.begin(), node.tokens.end());
    if (node.key == key_of(std::as_bytes(std::span(path)))) {
      for (const StoredImage& image : node.images) {
        images.emplace_back(path, image);
      }
      paths_[node.id] = std::move(path);
    }
  }
  void record(StoredRecord) override {}

  std::vector<std::pair<Tokens, StoredImage>> images;

 private:
  std::map<NodeId, Tokens> paths_;
};

class ManifestRow : public testing::Test {
 protected:
  ManifestRow() {
    const auto tier = rig_.open();
    const ScopeId scope = tier->scope(kScope).value();
    for (const int chat : {1, 2, 3}) {
      tier
          ->store(chat_batch(
              scope, chat_tokens(chat, 200, 64), chat_name(chat), rig_.images))
          .value();
    }
    for (const std::string key : {"a", "b"}) {
      const std::string value(300, key[0]);
      const ObjectToStore object{
          .space = "encoder",
          .key = key,
          .bytes = std::as_bytes(std::span(value))};
      tier->put_objects(std::span(&object, 1)).value();
    }
    for (const std::string& sql :
         texts("SELECT 'UPDATE sqlite_schema SET sql = ' || quote(sql) || "
               "' WHERE name = ' || quote(name) || ';' FROM sqlite_schema "
               "WHERE sql NOT NULL")) {
      schema_again_ += sql;
    }
  }

  std::shared_ptr<MemoryFileSystem> device() const {
    return rig_.memory->power_loss(
        {.keep = PowerLoss::Keep::kEverything, .seed = 0});
  }

  void
  change(const std::shared_ptr<FileSystem>& files, const std::string& sql) {
    const bool null = sql.find("= NULL") != std::string::npos;
    if (null) {
      run_sql(
          files,
          "UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '')");
    }
    run_sql(files, sql);
    if (null) {
      run_sql(files, schema_again_);
    }
  }

  /// A device with that change, and the tier's answers over it.
  void expect_no_wrong_answer(const std::string& sql) {
    SCOPED_TRACE(sql);
    const auto files = device();
    try {
      change(files, sql);
    } catch (const ManifestError&) {
      ++refused_; // an id that is no number cannot be written
      return;
    }
    DiskTierOptions options = rig_.options;
    options.files = files;
    const auto opened = DiskTier::open(options);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    DiskTier& tier = *opened.value();
    expect_code(tier.stats().status());
    expect_images(tier);
    for (const int chat : {1, 2, 3}) {
      expect_record(tier, chat);
    }
    for (const std::string key : {"a", "b"}) {
      const auto object = tier.object("encoder", key);
      expect_code(object.status());
      EXPECT_TRUE(
          !object.ok() || text_of(object.value()) == std::string(300, key[0]));
    }
    expect_verbs(tier);
  }

  static void expect_code(const Status& status) {
    const std::set<ErrorCode> known = {
        ErrorCode::kCorrupt, ErrorCode::kNotFound, ErrorCode::kOutOfBudget};
    EXPECT_TRUE(status.ok() || known.contains(status.code())) << status.text();
  }

  static void expect_images(DiskTier& tier) {
    Believer all;
    expect_code(tier.load(all));
    for (const auto& [path, image] : all.images) {
      const auto mapped = tier.map(image.extent);
      expect_code(mapped.status());
      EXPECT_TRUE(
          !mapped.ok() ||
          text_of(mapped.value()) == Images::text(path, image.slot))
          << "the image of a path of " << path.size() << " tokens";
    }
  }

  /// As a prefix cache asks: the nodes have the keys of their tokens.
  static bool is_own_text(const RecordText& text) {
    Tokens path = text.tokens;
    path.insert(path.end(), text.rest.begin(), text.rest.end());
    for (size_t i = 0; i < text.keys.size(); ++i) {
      const size_t end = std::min(path.size(), (i + 1) * kBlockTokens);
      if (text.keys[i] != key_of(std::as_bytes(std::span(path).first(end)))) {
        return false;
      }
    }
    return true;
  }

  static void expect_record(DiskTier& tier, int chat) {
    const RecordName name{"chat", chat_name(chat)};
    const auto text = tier.record_text(name);
    expect_code(text.status());
    if (text.ok() && is_own_text(text.value())) {
      EXPECT_EQ(text.value().tokens, chat_tokens(chat, 200, 64));
      EXPECT_EQ(text.value().body, "body of " + name.name + " at 200");
      expect_code(tier.path(text.value().record.leaf).status());
    }
    expect_code(tier.record(name).status());
    expect_code(tier.record_body(name).status());
  }

  Status store_more(DiskTier& tier) {
    StoreBatch batch = chat_batch(
        tier.scope(kScope).value(),
        chat_tokens(1, 260, 64),
        chat_name(1),
        rig_.images);
    batch.record->replaces_prefixes = true;
    batch.record->version = 0;
    return tier.store(batch).status();
  }

  void expect_verbs(DiskTier& tier) {
    expect_code(tier.forget({"chat", chat_name(3)}).status());
    expect_code(tier.evict(Bytes(1)).status());
    expect_code(tier.prune().status());
    expect_code(tier.verify().status());
    // And it goes on; at the second store, where the first one found out.
    EXPECT_TRUE(store_more(tier).ok() || store_more(tier).ok());
    expect_images(tier);
    EXPECT_TRUE(tier.verify().ok());
    const auto second = tier.verify();
    EXPECT_TRUE(second.ok()) << second.status().text();
    for (const std::string& fault : second.value().faults) {
      ADD_FAILURE() << fault;
    }
    expect_code(tier.evict(Bytes(1 << 30)).status());
    expect_code(tier.forget_all().status());
    expect_code(tier.stats().status());
  }

  std::vector<std::string> texts(const std::string& sql) const {
    return sql_texts(rig_.memory, sql);
  }

  std::vector<std::string> tables() const {
    return texts(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND "
        "name NOT LIKE 'sqlite%'");
  }

  /// SQL that holds for one row of a table.
  std::string row_of(const std::string& table, bool first) const {
    const std::string key = texts(
        "SELECT group_concat(name) FROM pragma_table_info('" + table +
        "') WHERE pk > 0")[0];
    return "(" + key + ") = (SELECT " + key + " FROM " + table +
        " ORDER BY 1 " + (first ? "ASC" : "DESC") + " LIMIT 1)";
  }

  TierRig rig_;
  std::string schema_again_; // as it was, NOT NULL included
  int refused_ = 0; // changes, by SQLite
};

// Of every table a row that was there at the begin, or the one that came last.
TEST_F(ManifestRow, WithAnyColumnWrongGivesNoWrongAnswer) {
  int cases = 0;
  for (const std::string& table : tables()) {
    for (const std::string& column :
         texts("SELECT name FROM pragma_table_info('" + table + "')")) {
      const std::string type = texts(
          "SELECT type FROM pragma_table_info('" + table + "') WHERE name = '" +
          column + "'")[0];
      for (const char* value : type == "INTEGER"
               ? std::span<const char* const>(kNumbers)
               : std::span<const char* const>(kBytes)) {
        const bool first = ++cases % 2 != 0;
        expect_no_wrong_answer(
            "UPDATE OR IGNORE " + table + " SET " + column + " = " +
            with(value, column) + " WHERE " + row_of(table, first));
      }
    }
  }
  EXPECT_GE(cases - refused_, 390);
}

// What is right by itself, and wrong beside the rest.
TEST_F(ManifestRow, ThatContradictsAnotherGivesNoWrongAnswer) {
  for (const char* sql : {
           // Circles, and parents that are none.
           "UPDATE nodes SET parent = id",
           "UPDATE nodes SET parent = (SELECT max(id) FROM nodes)",
           "UPDATE nodes SET parent = (SELECT max(id) FROM nodes) "
           "WHERE parent IS NULL",
           "UPDATE nodes SET parent = NULL",
           "UPDATE nodes SET parent = 77 WHERE parent NOT NULL",
           "DELETE FROM nodes WHERE parent IS NULL",
           // Other tokens under the key, and other keys over the tokens.
           "UPDATE nodes SET tokens = zeroblob(256)",
           "UPDATE nodes SET tokens = substr(tokens, 1, 128)",
           "UPDATE nodes SET tokens = substr(tokens, 1, 6)",
           "UPDATE nodes SET key = (SELECT min(key) FROM nodes)",
           // Counts.
           "UPDATE nodes SET children = 0",
           "UPDATE nodes SET children = 9",
           "UPDATE segments SET live = 0",
           "UPDATE segments SET live = extents, holes = extents",
           "UPDATE segments SET extents = 0, live = 0",
           "UPDATE segments SET extents = bytes - 4096",
           "UPDATE segments SET erase = 1, live = 4096",
           // The image of another node, of another layer group, of none.
           "UPDATE images SET offset = offset + 4096 WHERE layer_group = 1",
           "UPDATE images SET offset = offset + 1048576 WHERE "
           "offset IN (4096, 8192); "
           "UPDATE images SET offset = 12288 - (offset - 1048576) WHERE "
           "offset > 1048576",
           "UPDATE images SET offset = 1 << 40 WHERE layer_group = 0 AND "
           "node = (SELECT max(node) FROM images)",
           "UPDATE images SET bytes = 4096",
           "UPDATE images SET bytes = bytes + 4096",
           "UPDATE images SET layer_group = 1 - layer_group + 4294967296",
           "UPDATE images SET phase = 1",
           "UPDATE OR IGNORE images SET segment = (SELECT max(id) FROM "
           "segments)",
           "DELETE FROM segments",
           // Bodies and objects that are images.
           "UPDATE objects SET (segment, offset, bytes) = (SELECT segment, "
           "offset, bytes FROM images LIMIT 1) "
           "WHERE id = (SELECT min(id) FROM objects)",
           "DELETE FROM images; UPDATE records SET offset = 4096, bytes = 4096",
           // Bytes that two rows name, alike and not.
           "UPDATE records SET (segment, offset, bytes) = (SELECT segment, "
           "offset, bytes FROM images ORDER BY segment, offset LIMIT 1) "
           "WHERE id = (SELECT min(id) FROM records)",
           "UPDATE records SET offset = 4096, bytes = 100",
           "UPDATE objects SET (segment, offset, bytes) = (SELECT segment, "
           "offset, bytes FROM records LIMIT 1) "
           "WHERE id = (SELECT min(id) FROM objects)",
           // Ends of records.
           "UPDATE records SET length = length + 1",
           "UPDATE records SET length = 192",
           "UPDATE records SET length = 64, leaf = NULL",
           "UPDATE records SET leaf = (SELECT min(id) FROM nodes)",
           "UPDATE records SET bytes = 0",
           "UPDATE records SET segment = NULL",
           "UPDATE records SET name = CAST(name AS TEXT)",
           "DELETE FROM records; DELETE FROM objects; DELETE FROM counters",
       }) {
    expect_no_wrong_answer(sql);
  }
  EXPECT_EQ(refused_, 0);
}

// Counts follow from rows: a wrong one loses nothing.
TEST_F(ManifestRow, WithAWrongCountKeepsWhatIsStored) {
  for (const char* sql :
       {"UPDATE nodes SET children = 0",
        "UPDATE nodes SET children = -1",
        "UPDATE nodes SET children = 'a'",
        "UPDATE segments SET live = 0",
        "UPDATE segments SET live = -4096",
        "UPDATE segments SET holes = -1",
        "UPDATE segments SET holes = -4096",
        "UPDATE segments SET holes = 'a'",
        "UPDATE segments SET holes = x'01'",
        "UPDATE segments SET holes = 0.5",
        "UPDATE segments SET holes = 1 << 62",
        "UPDATE segments SET live = 1 << 62"}) {
    SCOPED_TRACE(sql);
    DiskTierOptions options = rig_.options;
    options.files = device();
    run_sql(options.files, sql);
    const auto tier = DiskTier::open(options).value();
    EXPECT_TRUE(tier->evict(Bytes()).ok()); // sweeps
    EXPECT_TRUE(tier->verify().ok());
    for (const int chat : {1, 2, 3}) {
      EXPECT_EQ(offered(*tier).restorable(chat_tokens(chat, 200, 64)), 200);
    }
    expect_consistent(*tier);
  }
}

} // namespace
} // namespace holdfast::test
