// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/disk_tier.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/node_table.h"
#include "holdfast/tier/over_records.h"
#include "holdfast/tier/record_table.h"

namespace holdfast {

DiskTier::DiskTier(std::unique_ptr<DiskTierCore> core)
    : core_(std::move(core)) {}

DiskTier::~DiskTier() = default;

Result<std::unique_ptr<DiskTier>> DiskTier::open(DiskTierOptions options) {
  expect(
      options.files && options.clock && !options.folder.empty(),
      "[DiskTier] expected files, a clock and a folder, got less");
  expect(
      options.max_bytes >= Bytes() && options.daily_bytes >= Bytes(),
      "[DiskTier] expected bytes of 0 or more, got a negative number");
  while (options.folder.size() > 1 && options.folder.back() == '/') {
    options.folder.pop_back();
  }
  auto core = std::make_unique<DiskTierCore>(std::move(options));
  try {
    core->folder->enter();
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
  Status status = core->run([&] { core->reconcile(); });
  if (status.ok()) {
    status = core->run([&] { core->keep_to_the_cap(); });
  }
  if (!status.ok()) {
    return status;
  }
  return std::unique_ptr<DiskTier>(new DiskTier(std::move(core)));
}

Result<ScopeId> DiskTier::scope(const ScopeText& text) {
  return core_->run([&] {
    ScopeId id = core_->manifest().find_scope(text);
    if (id == ScopeId()) {
      ManifestTransaction transaction(core_->database());
      id = core_->manifest().add_scope(text);
      transaction.commit();
    }
    return id;
  });
}

namespace {

void load_scopes(Database& database, TierVisitor& visitor) {
  Statement rows = database.prepare("SELECT id, text FROM scopes ORDER BY id");
  while (rows.step()) {
    visitor.scope(ScopeId(rows.integer(0)), {rows.text(1)});
  }
}

/// Images by node, read beside the nodes.
class ImageRows {
 public:
  explicit ImageRows(Database& database)
      : rows_(database.prepare(
            "SELECT node, layer_group, phase, segment, offset, bytes "
            "FROM images ORDER BY node, layer_group, phase")),
        there_(rows_.step()) {}

  std::vector<StoredImage> of(NodeId id) {
    std::vector<StoredImage> images;
    for (; there_ && rows_.integer(0) <= id.get(); there_ = rows_.step()) {
      require_row(rows_.integer(0) == id.get(), "an image of a node");
      images.push_back(image_in(rows_, 1));
    }
    return images;
  }

 private:
  Statement rows_;
  bool there_;
};

constexpr const char* kNodeColumns =
    "SELECT id, scope, parent, key, tokens, marks, used_ns, uses, cost, "
    "expires_ns, pinned FROM nodes ";

StoredNode node_of(const Statement& rows) {
  StoredNode node;
  node.id = NodeId(rows.integer(0));
  node.scope = ScopeId(rows.integer(1));
  node.parent = parent_in(rows, 2, node.id);
  node.key = unpacked_key(rows.bytes(3));
  node.tokens = unpacked(rows.bytes(4));
  node.marks = rows.text(5);
  node.used_ns = rows.integer(6);
  node.uses = rows.integer(7);
  node.cost = rows.integer(8);
  node.expires_ns = rows.integer(9);
  node.pinned = rows.integer(10) != 0;
  return node;
}

/// In the order of ids: a parent was there before its children.
void load_nodes(Database& database, TierVisitor& visitor) {
  ImageRows images(database);
  Statement rows = database.prepare(std::string(kNodeColumns) + "ORDER BY id");
  while (rows.step()) {
    StoredNode node = node_of(rows);
    node.images = images.of(node.id);
    visitor.node(std::move(node));
  }
}

/// The same of nodes that came after those ids were given. An image that a node
/// got since lies in a segment made since.
void load_new_nodes(
    Database& database,
    TierVisitor& visitor,
    NodeId last_node,
    SegmentId last_segment) {
  Statement rows = database.prepare(
      std::string(kNodeColumns) +
      "WHERE id > ?1 OR id IN (SELECT node FROM images WHERE segment > ?2) "
      "ORDER BY id");
  rows.bind(last_node.get()).bind(last_segment.get());
  while (rows.step()) {
    StoredNode node = node_of(rows);
    node.images = images_of(database, node.id);
    visitor.node(std::move(node));
  }
}

/// The last id of a table that was given.
int64_t last_id_of(Database& database, const char* table) {
  Statement find =
      database.prepare("SELECT seq FROM sqlite_sequence WHERE name = ?");
  return find.bind(table).step() ? find.integer(0) : 0;
}

/// In an access.
Loaded read(DiskTierCore& core, TierVisitor& visitor, Loaded wanted) {
  visitor.begin();
  // One read transaction: pages are checked for change once, not a table.
  ManifestTransaction transaction(core.database());
  load_scopes(core.database(), visitor);
  if (core.loaded_version == -1) {
    wanted = Loaded::kAll;
  }
  if (wanted == Loaded::kChanges) {
    load_new_nodes(
        core.database(), visitor, core.loaded_node, core.loaded_segment);
  } else {
    load_nodes(core.database(), visitor);
  }
  OverRecords over(core);
  for (StoredRecord& record : all_records(core.database(), nullptr)) {
    if (!over.contains(record)) {
      visitor.record(std::move(record));
    }
  }
  core.loaded_node = NodeId(last_id_of(core.database(), "nodes"));
  core.loaded_segment = SegmentId(last_id_of(core.database(), "segments"));
  transaction.commit();
  core.loaded_version = core.manifest().data_version();
  return wanted;
}

} // namespace

Status DiskTier::load(TierVisitor& visitor) {
  return core_->run([&] { std::ignore = read(*core_, visitor, Loaded::kAll); });
}

Result<Loaded> DiskTier::load_changes(TierVisitor& visitor) {
  return core_->run([&] { return read(*core_, visitor, Loaded::kChanges); });
}

Result<bool> DiskTier::changed_by_others() {
  return core_->run([&] {
    return core_->loaded_version != core_->manifest().data_version();
  });
}

void DiskTier::touch(std::span<const NodeId> nodes, int64_t served) {
  expect(
      served >= 0,
      "[DiskTier] expected 0 tokens served or more, got a negative number");
  const std::lock_guard lock(core_->touch_mutex);
  core_->touches.served += served;
  for (const NodeId id : nodes) {
    ++core_->touches.nodes[id];
  }
}

Status DiskTier::pin_nodes(std::span<const NodeId> nodes, bool pinned) {
  return core_->run([&] {
    ManifestTransaction transaction(core_->database());
    for (const NodeId id : nodes) {
      pin_node(core_->database(), id, pinned);
    }
    transaction.commit();
  });
}

Status DiskTier::expire_nodes(std::span<const NodeId> nodes, int64_t wall_ns) {
  return core_->run([&] {
    ManifestTransaction transaction(core_->database());
    for (const NodeId id : nodes) {
      expire_node(core_->database(), id, wall_ns);
    }
    transaction.commit();
  });
}

Result<Removed> DiskTier::remove_nodes(std::span<const NodeId> nodes) {
  return core_->run([&] {
    return core_->remove([&](Removed& removed) {
      for (const NodeId id : nodes) {
        remove_subtree(core_->database(), id, removed);
      }
    });
  });
}

Result<bool> DiskTier::has(std::span<const NamedImage> images) {
  return core_->run([&] {
    // One read transaction: pages are checked for change once.
    ManifestTransaction transaction(core_->database());
    const bool all = std::ranges::all_of(images, [&](const NamedImage& image) {
      return find_image(core_->database(), image.node, image.slot) ==
          image.extent;
    });
    transaction.commit();
    return all;
  });
}

std::shared_ptr<const void> DiskTier::listen(TierListener& listener) {
  DiskTierCore& core = *core_;
  const std::lock_guard lock(core.mutex);
  core.listeners.push_back(&listener);
  return {&listener, [&core](const TierListener* gone) {
            const std::lock_guard again(core.mutex);
            std::erase(core.listeners, gone);
          }};
}

TierReport DiskTier::report() const {
  const std::lock_guard lock(core_->mutex);
  return core_->report;
}

const DiskTierOptions& DiskTier::options() const {
  return core_->options;
}

KeyClaims DiskTier::claims() const {
  return core_->claims();
}

} // namespace holdfast
