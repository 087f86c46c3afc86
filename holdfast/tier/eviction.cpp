// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/eviction.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "holdfast/tier/batch.h"
#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/record_claims.h"
#include "holdfast/tier/record_table.h"
#include "holdfast/tier/segment_table.h"

namespace holdfast {

namespace {

constexpr int64_t kNsPerPage = 100000; // of an object

std::vector<NodeId> leaves_of(Database& database) {
  std::vector<NodeId> leaves;
  Statement find =
      database.prepare("SELECT id FROM nodes WHERE children = 0 ORDER BY tick");
  while (find.step()) {
    leaves.emplace_back(find.integer(0));
  }
  return leaves;
}

} // namespace

bool EvictionOrder::Candidate::operator<(const Candidate& other) const {
  const auto key = [](const Candidate& c) {
    return std::tuple(c.expired, !c.last, c.score);
  };
  return key(*this) != key(other) ? key(*this) < key(other) : tick > other.tick;
}

EvictionOrder::EvictionOrder(
    Database& database,
    const Untouchable& untouchable,
    int64_t tick,
    int64_t wall_ns)
    : database_(database),
      untouchable_(untouchable),
      tick_(tick),
      wall_ns_(wall_ns) {
  for (const NodeId leaf : leaves_of(database)) {
    consider_leaf(*find_node(database, leaf));
  }
  for (const ObjectRow& object : all_objects(database)) {
    consider_object(object);
  }
  consider_bodies_alone();
}

EvictionOrder::Candidate EvictionOrder::scored(
    Victim victim,
    int64_t tick,
    int64_t cost,
    int64_t expires) const {
  Candidate candidate;
  candidate.expired = expires != 0 && expires <= wall_ns_;
  // Not as integers, of which a row may have any.
  const double age =
      std::max(static_cast<double>(tick_) - static_cast<double>(tick), 0.0) + 1;
  // A node that lost its images is worth a page of rows.
  const auto bytes =
      static_cast<double>(std::max<int64_t>(victim.bytes.get(), kSegmentPage));
  candidate.score = age * bytes / static_cast<double>(cost);
  candidate.tick = tick;
  candidate.victim = std::move(victim);
  return candidate;
}

void EvictionOrder::consider_leaf(const NodeRow& node) {
  if (node.pinned || untouchable_.nodes.contains(node.id) ||
      pinned_record_on(database_, node.id)) {
    return;
  }
  Victim victim{
      .node = node, .record = {}, .object = {}, .extents = {}, .bytes = {}};
  for (const StoredImage& image : images_of(database_, node.id)) {
    if (untouchable_.segments.contains(image.extent.segment)) {
      return;
    }
    victim.extents.push_back(image.extent);
  }
  for (const RecordName& name : records_on(database_, node.id)) {
    if (is_claimed(name, untouchable_.claimed)) {
      return; // it would go with its leaf
    }
    const std::optional<StoredRecord> record = find_record(database_, name);
    require_row(record.has_value(), "a record under its name");
    if (record->body.bytes > Bytes() &&
        !untouchable_.segments.contains(record->body.segment)) {
      victim.extents.push_back(record->body);
    }
  }
  for (const Extent& extent : victim.extents) {
    victim.bytes += whole_pages(extent.bytes);
  }
  const int64_t cost =
      node.cost > 0 ? node.cost : kNsPerToken * node.token_count;
  waiting_.push(scored(std::move(victim), node.tick, cost, node.expires_ns));
}

void EvictionOrder::consider_object(const ObjectRow& object) {
  if (untouchable_.segments.contains(object.extent.segment)) {
    return;
  }
  const Bytes bytes = whole_pages(object.extent.bytes);
  const int64_t cost =
      object.cost > 0 ? object.cost : kNsPerPage * (bytes.get() / kSegmentPage);
  waiting_.push(scored(
      {.node = {},
       .record = {},
       .object = object,
       .extents = {object.extent},
       .bytes = bytes},
      object.tick,
      cost,
      object.expires_ns));
}

void EvictionOrder::consider_bodies_alone() {
  int64_t place = 0;
  for (const StoredRecord& record : bodies_alone(database_)) {
    if (untouchable_.segments.contains(record.body.segment) ||
        is_claimed(record.name, untouchable_.claimed)) {
      continue;
    }
    Candidate candidate;
    candidate.last = true;
    candidate.tick = place++;
    candidate.victim = {
        .node = {},
        .record = record.name,
        .object = {},
        .extents = {record.body},
        .bytes = whole_pages(record.body.bytes)};
    waiting_.push(std::move(candidate));
  }
}

std::optional<Victim> EvictionOrder::next() {
  if (waiting_.empty()) {
    return std::nullopt;
  }
  Victim victim = waiting_.top().victim;
  waiting_.pop();
  if (victim.node && victim.node->parent != NodeId()) {
    const auto parent = find_node(database_, victim.node->parent);
    require_row(parent.has_value(), "whole paths");
    if (++gone_children_[parent->id] == parent->children) {
      consider_leaf(*parent);
    }
  }
  return victim;
}

} // namespace holdfast
