// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// DiskTier::store: what the manifest lacks is planned in one access, written
// outside of any, and named in another, with that of other stores, which looks
// again at what others did meanwhile.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/block/layout.h"
#include "holdfast/tier/batch_check.h"
#include "holdfast/tier/held_nodes.h"
#include "holdfast/tier/node_table.h"
#include "holdfast/tier/record_path.h"
#include "holdfast/tier/record_table.h"
#include "holdfast/tier/unfinished_segment.h"

namespace holdfast {

namespace {

class StoreRun : public CommitPart {
 public:
  using Committed = std::function<void(const Stored&)>;

  StoreRun(
      DiskTierCore& core,
      const StoreBatch& batch,
      const Committed& committed)
      : core_(core),
        batch_(batch),
        committed_(committed),
        held_(core),
        segment_(core, plan_) {}
  ~StoreRun() override {
    land();
  }

  Result<Stored> run() {
    Status status = prepared();
    if (status.ok()) {
      status = segment_.write();
    }
    if (status.ok()) {
      status = sources();
    }
    if (status.ok()) {
      status = core_.commits.commit(*this);
    }
    return status.ok() ? Result<Stored>(std::move(stored_)) : status;
  }

 private:
  /// Plans, once nobody else writes what this lacks.
  Status prepared() {
    for (;;) {
      std::optional<uint64_t> taken;
      Status status = core_.run([&] { taken = prepare(); });
      if (!status.ok() || !taken) {
        return status;
      }
      core_.flights.wait(*taken);
    }
  }

  void land() {
    core_.flights.give_back(std::exchange(flying_, {}));
  }

  /// Whether what was written meant something.
  Status sources() const {
    for (const NodeToStore& node : batch_.nodes) {
      for (const ImageToStore& image : node.images) {
        if (!image.block.intact()) {
          return Status(
              ErrorCode::kCorrupt,
              "[DiskTier] expected images to store that are whole, got one of "
              "a file that was cut short while it was mapped");
        }
      }
    }
    return Status();
  }

  /// In an access: plans what to write, and makes room for it. Where another
  /// store writes some of it: the count to wait from.
  std::optional<uint64_t> prepare() {
    plan_ = SegmentPlan();
    places_.clear();
    images_.clear();
    held_.clear();
    land();
    core_.drop_cut(); // what this store has of it is written anew
    require_scope();
    int64_t rows = batch_.record ? 1 : 0;
    std::vector<NodeId> ids;
    for (const NodeToStore& node : batch_.nodes) {
      const std::optional<NodeId> parent = parent_of(node, ids);
      const NodeId id = parent
          ? find_node(core_.database(), {batch_.scope, *parent}, node)
          : NodeId();
      held_.add(id);
      ids.push_back(id);
      rows += id == NodeId() ? 1 : 0;
      find_images(node, id);
    }
    if (const auto taken = take_off()) {
      return taken;
    }
    plan_images();
    if (batch_.record) {
      require_record(*batch_.record);
      if (!batch_.record->body.empty()) {
        body_ = plan_.add_bytes(
            ExtentType::kBody, bytes_of_text(batch_.record->body));
      }
    }
    segment_.begin(rows, stored_.removed);
    return std::nullopt;
  }

  std::optional<uint64_t> take_off() {
    std::vector<ImageFlights::Name> names;
    for (const LackingImage& lacking : images_) {
      const Key128& key = batch_.nodes[lacking.node].key;
      names.emplace_back(batch_.scope, key.high, key.low, lacking.slot);
    }
    const auto taken = core_.flights.take(names);
    if (!taken) {
      flying_ = std::move(names);
    }
    return taken;
  }

  void require_scope() {
    if (!core_.manifest().has_scope(batch_.scope)) {
      throw Error(
          ErrorCode::kNotFound,
          "[DiskTier] expected a scope of this tier, got " +
              std::to_string(batch_.scope.get()));
    }
  }

  /// The parent's id; nothing where it is new in this batch. Throws kNotFound
  /// where it is gone.
  std::optional<NodeId>
  parent_of(const NodeToStore& node, const std::vector<NodeId>& ids) {
    if (node.parent_in_batch >= 0) {
      const NodeId id = ids[static_cast<size_t>(node.parent_in_batch)];
      return id == NodeId() ? std::nullopt : std::optional(id);
    }
    if (node.parent != NodeId()) {
      const auto parent = require_node(node.parent, "a parent");
      held_.add(node.parent);
      if (parent.token_count != kBlockTokens) {
        throw Error(
            ErrorCode::kInvalidArgument,
            "[DiskTier] expected a parent of 64 tokens, got " +
                std::to_string(parent.token_count));
      }
    }
    return node.parent;
  }

  NodeRow require_node(NodeId id, const char* what) {
    const std::optional<NodeRow> node = find_node(core_.database(), id);
    if (!node || node->scope != batch_.scope) {
      throw Error(
          ErrorCode::kNotFound,
          std::string("[DiskTier] expected ") + what +
              " in the scope, got node " + std::to_string(id.get()) +
              ", which is gone");
    }
    return *node;
  }

  /// Notes what the manifest lacks of a node.
  void find_images(const NodeToStore& node, NodeId id) {
    const size_t place = places_.size();
    places_.emplace_back(node.images.size());
    for (size_t i = 0; i < node.images.size(); ++i) {
      const ImageSlot slot = node.images[i].slot;
      if (id == NodeId() || !find_image(core_.database(), id, slot)) {
        images_.push_back({slot, place, i});
      }
    }
  }

  /// Slot after slot, so that what a row needs of one, all of it or its end,
  /// lies together.
  void plan_images() {
    std::stable_sort(
        images_.begin(), images_.end(), [](const auto& a, const auto& b) {
          return a.slot < b.slot;
        });
    for (const LackingImage& lacking : images_) {
      const NodeToStore& node = batch_.nodes[lacking.node];
      const ImageToStore& image = node.images[lacking.image];
      SegmentEntry entry;
      entry.slot = image.slot;
      entry.key = node.key;
      entry.positions = static_cast<uint32_t>(node.tokens.size());
      const std::span bytes(
          image.block.image(), static_cast<size_t>(image.block.bytes().get()));
      places_[lacking.node][lacking.image] =
          plan_.add_image(entry, bytes, image.planes);
    }
  }

  void require_record(const RecordToStore& record) {
    const auto old = find_record(core_.database(), {record.space, record.name});
    if (old && record.version != 0 && old->version > record.version) {
      throw Error(
          ErrorCode::kStale,
          "[DiskTier] expected version " + std::to_string(old->version) +
              " or more of record " + record.name + ", got " +
              std::to_string(record.version));
    }
    if (record.leaf_in_batch < 0 && record.leaf != NodeId()) {
      require_node(record.leaf, "a leaf");
      held_.add(record.leaf);
    }
  }

  Bytes add() override {
    superseded_ = {};
    require_scope();
    stored_.nodes.clear();
    stored_.images.clear();
    new_tokens_ = 0;
    const SegmentId segment = segment_.publish();
    const NodeUse use{
        core_.manifest().next_tick(), core_.options.clock->wall_ns(), 1};
    Removed superseded;
    for (size_t i = 0; i < batch_.nodes.size(); ++i) {
      add_node_rows(i, segment, superseded);
      touch_node(core_.database(), stored_.nodes[i], use);
    }
    if (batch_.record) {
      put_record(*batch_.record, segment, use.wall_ns, superseded);
    }
    stored_.written = plan_.file_bytes();
    core_.manifest().add_to(Manifest::Counter::kStored, new_tokens_);
    // It frees its pages when there is something to gain by it: at the next
    // eviction, prune or opening.
    superseded_ = std::move(superseded);
    return stored_.written;
  }

  const Removed& removed() const override {
    return superseded_;
  }

  void committed() override {
    segment_.committed();
    stored_.removed.add(superseded_);
    if (committed_) {
      committed_(stored_);
    }
  }

  void add_node_rows(size_t index, SegmentId segment, Removed& superseded) {
    const NodeToStore& node = batch_.nodes[index];
    const NodePlace place{batch_.scope, *parent_of(node, stored_.nodes)};
    NodeId id = find_node(core_.database(), place, node);
    if (id == NodeId()) {
      id = add_node(core_.database(), place, node);
      new_tokens_ += std::ssize(node.tokens);
    }
    stored_.nodes.push_back(id);
    std::vector<Extent> extents;
    for (size_t i = 0; i < node.images.size(); ++i) {
      const ImageSlot slot = node.images[i].slot;
      std::optional<Extent> extent = find_image(core_.database(), id, slot);
      if (!extent) {
        extent = planned(places_[index][i], segment);
        add_image(core_.database(), id, slot, *extent);
      }
      extents.push_back(*extent);
    }
    stored_.images.push_back(std::move(extents));
    for (const NodeId tail : node.supersedes) {
      supersede(tail, id, superseded);
    }
  }

  Extent planned(const std::optional<size_t>& place, SegmentId segment) const {
    if (!place) {
      throw Error(
          ErrorCode::kNotFound,
          "[DiskTier] expected an image that was stored before, got none: "
          "another process evicted it meanwhile");
    }
    const SegmentEntry& entry = plan_.entry(*place);
    return {segment, entry.offset, entry.bytes};
  }

  void supersede(NodeId tail_id, NodeId by, Removed& removed) {
    const std::optional<NodeRow> tail = find_node(core_.database(), tail_id);
    if (!tail) {
      return; // evicted
    }
    require_extends(core_.database(), *tail, by);
    for (const StoredImage& image : images_of(core_.database(), tail_id)) {
      if (find_image(core_.database(), by, image.slot)) {
        remove_image(core_.database(), tail_id, image);
      }
    }
    if (images_of(core_.database(), tail_id).empty()) {
      move_records(core_.database(), tail_id, by);
      if (tail->pinned) {
        pin_node(core_.database(), by, true);
      }
      remove_leaf(core_.database(), *tail, removed);
      new_tokens_ -= tail->token_count;
    }
  }

  void put_record(
      const RecordToStore& record,
      SegmentId segment,
      int64_t wall_ns,
      Removed& removed) {
    require_record(record);
    StoredRecord row;
    row.name = {record.space, record.name};
    const auto old = find_record(core_.database(), row.name);
    row.scope = batch_.scope;
    row.version =
        record.version != 0 ? record.version : (old ? old->version + 1 : 1);
    stored_.version = row.version;
    row.leaf = record.leaf_in_batch >= 0
        ? stored_.nodes[static_cast<size_t>(record.leaf_in_batch)]
        : record.leaf;
    row.length = record.length;
    require_length(core_.database(), row);
    if (body_) {
      row.body = planned(body_, segment);
    }
    row.stored_ns = wall_ns;
    row.pinned = record.pinned || (old && old->pinned);
    row.expires_ns = record.expires_ns;
    put_record_row(core_.database(), row);
    if (record.replaces_prefixes) {
      for (const RecordName& name : prefix_records(core_.database(), row)) {
        remove_record_row(core_.database(), name);
        removed.records.push_back(name);
      }
    }
  }

  DiskTierCore& core_;
  const StoreBatch& batch_;
  const Committed& committed_;
  HeldNodes held_;
  SegmentPlan plan_;
  struct LackingImage {
    ImageSlot slot;
    size_t node = 0; // in the batch
    size_t image = 0; // of the node
  };
  std::vector<LackingImage> images_;
  std::vector<std::vector<std::optional<size_t>>> places_; // [node][image]
  std::optional<size_t> body_;
  std::vector<ImageFlights::Name> flying_;
  UnfinishedSegment segment_;
  Stored stored_;
  Removed superseded_; // by the last add()
  int64_t new_tokens_ = 0;
};

} // namespace

Result<Stored> DiskTier::store(
    const StoreBatch& batch,
    const std::function<void(const Stored&)>& committed) {
  require_batch(batch);
  return StoreRun(*core_, batch, committed).run();
}

} // namespace holdfast
