// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Room within the cap: foreign files first, then what EvictionOrder says.

#include <algorithm>
#include <map>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/eviction.h"
#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/record_table.h"

namespace holdfast {

namespace {

/// What may go, chosen before anything does.
struct Choice {
  std::vector<ForeignFile> files;
  std::vector<Victim> victims;
  Bytes bytes;
};

class Evictor {
 public:
  explicit Evictor(DiskTierCore& core) : core_(core), open_(core.open_tiers()) {
    for (const SegmentIdentity& identity : open_.leased) {
      const auto row = find_segment(core.database(), identity);
      if (row) {
        untouchable_.segments.insert(row->id);
      }
    }
    untouchable_.nodes.insert(core.in_store.begin(), core.in_store.end());
    untouchable_.claimed = core.claimed();
  }

  const OpenTiers& open() const {
    return open_;
  }

  /// At least `wanted` bytes, or all there is.
  Choice choose(Bytes wanted) {
    Choice choice;
    choose_files(wanted, choice);
    EvictionOrder order = this->order();
    while (choice.bytes < wanted) {
      std::optional<Victim> victim = order.next();
      if (!victim) {
        break;
      }
      choice.bytes += victim->bytes + ended_by(*victim);
      choice.victims.push_back(std::move(*victim));
    }
    return choice;
  }

  Choice choose_expired() const {
    Choice choice;
    EvictionOrder order = this->order();
    while (order.next_expired()) {
      choice.victims.push_back(*order.next());
      choice.bytes += choice.victims.back().bytes;
    }
    return choice;
  }

  void carry_out(const Choice& choice, Removed& removed) {
    core_.remove_files(choice.files, removed);
    if (!choice.victims.empty()) {
      Removed gone; // once it is committed
      ManifestTransaction transaction(core_.database());
      for (const Victim& victim : choice.victims) {
        if (victim.node) {
          remove_leaf(core_.database(), *victim.node, gone);
        } else if (victim.record) {
          remove_record_row(core_.database(), *victim.record);
          gone.records.push_back(*victim.record);
        } else {
          remove_object_row(core_.database(), victim.object);
          ++gone.objects;
        }
      }
      try {
        core_.commit(transaction, gone);
      } catch (const ManifestError&) {
        removed.add(gone); // it may have happened
        throw;
      }
      removed.add(gone);
    }
    core_.sweep(removed);
  }

 private:
  EvictionOrder order() const {
    return EvictionOrder(
        core_.database(),
        untouchable_,
        core_.manifest().tick(),
        core_.options.clock->wall_ns());
  }

  /// What goes besides with the last extents of their segments.
  Bytes ended_by(const Victim& victim) {
    Bytes sum;
    for (const Extent& extent : victim.extents) {
      const auto [place, first] =
          left_.try_emplace(extent.segment, SegmentRow());
      if (first) {
        const auto row = find_segment(core_.database(), extent.segment);
        require_row(row.has_value(), "an extent of a segment");
        place->second = *row;
      }
      SegmentRow& left = place->second;
      left.live -= whole_pages(extent.bytes);
      if (left.live == Bytes()) {
        sum += left.bytes - left.extents;
      }
    }
    return sum;
  }

  void choose_files(Bytes wanted, Choice& choice) const {
    std::vector<ForeignFile> files = core_.foreign;
    std::ranges::sort(files, {}, &ForeignFile::modified_ns);
    for (const ForeignFile& file : files) {
      if (file.fate == ForeignFile::Fate::kMayGo && choice.bytes < wanted) {
        choice.files.push_back(file);
        choice.bytes += file.bytes;
      }
    }
  }

  DiskTierCore& core_;
  const OpenTiers open_;
  Untouchable untouchable_;
  std::map<SegmentId, SegmentRow> left_; // of segments that victims are in
};

[[noreturn]] void no_room(const DiskTierCore& core, Bytes needed, Bytes used) {
  throw Error(
      ErrorCode::kOutOfBudget,
      core.options.folder + ": expected room for " +
          std::to_string(needed.get()) + " bytes within " +
          std::to_string(core.options.max_bytes.get()) + ", got " +
          std::to_string(used.get()) +
          " in use, of which too little may be evicted");
}

} // namespace

void DiskTierCore::make_room(Bytes needed, Removed& removed) {
  const Bytes most = options.max_bytes;
  remove_left_over();
  needed += Bytes(growing); // is room that others have, too
  if (used(open_tiers()) + needed > most - Bytes(most.get() / 8)) {
    scan_foreign(); // somebody may have put files here, or taken some
  }
  if (used(open_tiers()) + needed <= most) {
    return;
  }
  write_pending_touches();
  expire_records(removed);
  sweep(removed);
  // A little more than asked for, so that not every store has to evict.
  const Bytes slack(most.get() / 64);
  // Where a file system cannot punch, a choice may free less than it says.
  for (bool first = true;; first = false) {
    Evictor evictor(*this);
    const Bytes in_use = used(evictor.open());
    if (in_use + needed <= most) {
      return;
    }
    const Bytes missing = in_use + needed - most;
    Choice choice = evictor.choose(first ? missing + slack : missing);
    if (choice.bytes < missing && first) {
      no_room(*this, needed, in_use);
    }
    if (choice.bytes == Bytes()) {
      no_room(*this, needed, in_use);
    }
    evictor.carry_out(choice, removed);
  }
}

void DiskTierCore::keep_to_the_cap() {
  Removed removed;
  try {
    make_room(Bytes(), removed);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfBudget) {
      throw;
    }
    note({".", Bytes(), TierFinding::Action::kNoted, error.what()});
  }
}

Result<Removed> DiskTier::evict(Bytes wanted) {
  return core_->run([&] {
    Removed removed;
    core_->write_pending_touches();
    core_->scan_foreign();
    core_->as_far_as_it_goes(removed, [&] {
      core_->expire_records(removed);
      core_->sweep(removed);
      while (removed.freed < wanted) {
        Evictor evictor(*core_);
        const Choice choice = evictor.choose(wanted - removed.freed);
        if (choice.bytes == Bytes()) {
          break;
        }
        evictor.carry_out(choice, removed);
      }
    });
    return removed;
  });
}

Result<Removed> DiskTier::prune() {
  return core_->run([&] {
    Removed removed;
    core_->scan_foreign();
    core_->write_pending_touches();
    core_->as_far_as_it_goes(removed, [&] {
      core_->expire_records(removed);
      Evictor evictor(*core_);
      evictor.carry_out(evictor.choose_expired(), removed);
      core_->manifest().shrink();
    });
    return removed;
  });
}

} // namespace holdfast
