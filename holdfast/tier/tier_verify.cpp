// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the tier says of itself: figures, and a check of everything.

#include <string>
#include <utility>
#include <vector>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/tier_map.h"

namespace holdfast {

namespace {

TierKindStats kind_stats(Database& database, const char* sql) {
  Statement row = database.prepare(sql);
  row.step();
  return {row.integer(0), Bytes(row.integer(1))};
}

} // namespace

Result<VerifyReport>
DiskTier::verify(const std::function<void(Bytes, Bytes)>& progress) {
  VerifyReport report;
  std::vector<Extent> extents;
  Status status = core_->run([&] {
    report = {};
    extents.clear();
    const std::string complaint = core_->manifest().integrity();
    if (!complaint.empty()) {
      throw ManifestError(ErrorCode::kCorrupt, complaint);
    }
    report.faults = counter_faults(core_->database());
    if (!report.faults.empty()) {
      repair_counts(core_->database());
    }
    for (const SegmentRow& row : all_segments(core_->database())) {
      ++report.segments;
      for (const NamedExtent& named :
           named_extents(core_->database(), row.id)) {
        extents.push_back(named.extent);
      }
    }
  });
  if (!status.ok()) {
    return status;
  }
  Bytes total;
  for (const Extent& extent : extents) {
    total += extent.bytes;
  }
  Bytes done;
  for (const Extent& extent : extents) {
    const Result<MappedImage> image =
        map_extent(*core_, extent, Verify::kAlways);
    done += extent.bytes;
    if (progress) {
      progress(done, total);
    }
    const ErrorCode code = image.status().code();
    if (code == ErrorCode::kNotFound) {
      continue; // evicted meanwhile
    }
    ++report.extents;
    report.bytes += extent.bytes;
    if (!image.ok()) {
      report.faults.push_back(image.status().text());
    }
    if (code == ErrorCode::kCorrupt) {
      report.dropped.push_back(extent);
    }
  }
  return report;
}

Result<TierStats> DiskTier::stats() {
  return core_->run([&] {
    TierStats stats;
    Database& database = core_->database();
    stats.images = kind_stats(
        database, "SELECT count(*), coalesce(sum(bytes), 0) FROM images");
    stats.bodies = kind_stats(
        database,
        "SELECT count(segment), coalesce(sum(bytes), 0) FROM records");
    stats.objects = kind_stats(
        database, "SELECT count(*), coalesce(sum(bytes), 0) FROM objects");
    stats.scopes = database.number("SELECT count(*) FROM scopes");
    stats.nodes = database.number("SELECT count(*) FROM nodes");
    stats.records = database.number("SELECT count(*) FROM records");
    stats.segments = database.number("SELECT count(*) FROM segments");
    stats.live =
        Bytes(database.number("SELECT coalesce(sum(live), 0) FROM segments"));
    stats.dead = Bytes(database.number(
        "SELECT coalesce(sum(extents - live - holes), 0) FROM segments"));
    core_->scan_foreign();
    const OpenTiers open = core_->open_tiers();
    stats.foreign = open.foreign;
    for (const ForeignFile& file : core_->foreign) {
      stats.foreign += file.bytes;
    }
    stats.manifest = core_->manifest_bytes();
    stats.used = core_->used(open);
    stats.max_bytes = core_->options.max_bytes;
    stats.tokens = database.number(
        "SELECT coalesce(sum(length(tokens)), 0) / 4 FROM nodes");
    stats.tokens_total = core_->manifest().value_of(Manifest::Counter::kStored);
    stats.tokens_served =
        core_->manifest().value_of(Manifest::Counter::kServed);
    stats.written_total = core_->written_total();
    stats.written_today = core_->written_today();
    stats.daily_limit = core_->options.daily_bytes;
    stats.leases = open.leases;
    return stats;
  });
}

} // namespace holdfast
