// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Gives back what no row names: whole segments are unlinked, gaps in others
// punched. What a tier has mapped stays as it is until it lets go.

#include <algorithm>
#include <string>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/segment_reader.h"

namespace holdfast {

namespace {

struct Gap {
  Bytes offset;
  Bytes bytes;
};

/// Whole pages between the live extents of a segment.
std::vector<Gap>
gaps_of(const SegmentRow& segment, const std::vector<Extent>& live) {
  std::vector<Gap> gaps;
  Bytes at(kSegmentPage);
  const auto gap_until = [&](Bytes end) {
    if (end > at) {
      gaps.push_back({at, end - at});
    }
  };
  for (const Extent& extent : live) {
    gap_until(extent.offset);
    at = extent.offset + whole_pages(extent.bytes);
  }
  gap_until(Bytes(kSegmentPage) + segment.extents);
  return gaps;
}

Status fill_with_zeros(File& file, const Gap& gap) {
  const std::vector<std::byte> zeros(size_t{1} << 20);
  for (int64_t done = 0; done < gap.bytes.get();) {
    const int64_t count =
        std::min(gap.bytes.get() - done, static_cast<int64_t>(zeros.size()));
    Status status = file.write(
        gap.offset + Bytes(done),
        std::span(zeros).first(static_cast<size_t>(count)));
    if (!status.ok()) {
      return status;
    }
    done += count;
  }
  return Status();
}

class Sweeper {
 public:
  Sweeper(DiskTierCore& core, Removed& removed)
      : core_(core), removed_(removed) {}

  /// It stays for the next sweep.
  void keep(const SegmentRow& segment) {
    const Bytes dead = segment.extents - segment.live - segment.holes;
    removed_.held += dead;
    removed_.unerased += segment.erase ? dead : Bytes();
  }

  void sweep(const SegmentRow& segment) {
    // By what rows name: to go by a count that is wrong would lose state.
    const std::vector<Extent> live = named(segment);
    count_live(core_.database(), segment.id);
    if (live.empty()) {
      unlink(segment);
    } else {
      punch(segment, live);
    }
  }

 private:
  /// By offset. What lies across another or outside cannot be what was stored,
  /// and is dropped: nothing is punched by it.
  std::vector<Extent> named(const SegmentRow& segment) {
    std::vector<Extent> fitting;
    Bytes at(kSegmentPage);
    for (const NamedExtent& each :
         named_extents(core_.database(), segment.id)) {
      const Extent& extent = each.extent;
      const Bytes end = extent.offset + whole_pages(extent.bytes);
      if (extent.offset < at || end > Bytes(kSegmentPage) + segment.extents) {
        core_.drop_row(
            extent, each.type, "expected an extent of its own, got another");
      } else {
        fitting.push_back(extent);
        at = end;
      }
    }
    return fitting;
  }

  void unlink(const SegmentRow& segment) {
    const Status status = core_.options.files->remove(
        core_.folder->segment_path(segment.identity));
    if (!status.ok() && status.code() != ErrorCode::kNotFound) {
      hold(segment, status);
      return;
    }
    remove_segment(core_.database(), segment.id);
    removed_.freed += segment.bytes - segment.holes;
  }

  void punch(const SegmentRow& segment, const std::vector<Extent>& live) {
    if (!core_.can_punch && !segment.erase) {
      hold(segment, Status());
      return;
    }
    const auto file = core_.options.files->open(
        core_.folder->segment_path(segment.identity),
        FileSystem::Access::kReadWrite);
    if (file.status().code() == ErrorCode::kNotFound) {
      core_.drop_segment(segment, "the file is missing");
      remove_segment(core_.database(), segment.id);
      return;
    }
    if (!file.ok()) {
      hold(segment, file.status());
      return;
    }
    if (const Status status = require_extents(*file.value(), segment);
        !status.ok()) {
      hold(segment, status);
      return;
    }
    Bytes holes;
    for (const Gap& gap : gaps_of(segment, live)) {
      const Status status = give_back(*file.value(), gap, segment.erase, holes);
      if (!status.ok()) {
        hold(segment, status);
        return;
      }
    }
    if (segment.erase) {
      set_erased(core_.database(), segment.id);
    }
    if (holes != segment.holes) {
      set_holes(core_.database(), segment.id, holes);
      removed_.freed += holes - segment.holes;
    }
  }

  /// Not ok where the extents end elsewhere than the row says: behind them is
  /// the directory, without which none of them can be read. Without a header
  /// none can either.
  static Status require_extents(const File& file, const SegmentRow& segment) {
    const Result<SegmentHeader> header = read_segment_header(file);
    if (!header.ok()) {
      return header.status().code() == ErrorCode::kIo ? header.status()
                                                      : Status();
    }
    return header.value().directory_offset ==
            Bytes(kSegmentPage) + segment.extents
        ? Status()
        : Status(
              ErrorCode::kCorrupt,
              file.path() + ": expected extents to the directory, got " +
                  std::to_string(segment.extents.get()) + " bytes of them");
  }

  Status give_back(File& file, const Gap& gap, bool erase, Bytes& holes) {
    Status status = file.punch(gap.offset, gap.bytes);
    if (status.code() == ErrorCode::kUnsupported) {
      core_.can_punch = false;
      removed_.held += gap.bytes;
      status = erase ? fill_with_zeros(file, gap) : Status();
    } else if (status.ok()) {
      holes += gap.bytes;
    }
    return status.ok() && erase ? file.sync() : status;
  }

  void hold(const SegmentRow& segment, const Status& status) {
    keep(segment);
    if (!status.ok()) {
      core_.note(
          {segment_file_name(segment.identity),
           segment.bytes,
           TierFinding::Action::kNoted,
           status.text()});
    }
  }

  DiskTierCore& core_;
  Removed& removed_;
};

} // namespace

void DiskTierCore::sweep(Removed& removed) {
  const std::vector<SegmentRow> segments = segments_with_dead(database());
  if (segments.empty()) {
    return;
  }
  const OpenTiers open = open_tiers();
  ManifestTransaction transaction(database());
  Sweeper sweeper(*this, removed);
  for (const SegmentRow& segment : segments) {
    if (open.leased.contains(segment.identity)) {
      sweeper.keep(segment);
    } else {
      sweeper.sweep(segment);
    }
  }
  transaction.commit();
}

} // namespace holdfast
