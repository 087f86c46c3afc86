// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// State on disk: a folder of segments (docs/segment.md) under one manifest
// (docs/manifest.md), within a byte budget.
//
// What store() or put_objects() acknowledged survives the death of the process
// and loss of power; anything else is there whole or not at all. Unreadable is
// never offered: kCorrupt. Several processes may share a folder.
// Threads: any; calls block. A caller's mistake throws kInvalidArgument; the
// disk answers with a Status.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/env/clock.h"
#include "holdfast/env/file_system.h"
#include "holdfast/tier/batch.h"
#include "holdfast/tier/forget_request.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/key_claims.h"
#include "holdfast/tier/stored.h"
#include "holdfast/tier/tier_listener.h"
#include "holdfast/tier/tier_report.h"

namespace holdfast {

/// When the checksums of an image are compared before it is offered. Headers
/// and directories of segments always are.
enum class Verify {
  kAlways,
  kFirstTouch, // once a mapping
  kNever,
};

struct DiskTierOptions {
  std::string folder; // made where it does not exist; its parent must
  Bytes max_bytes{int64_t{20} << 30}; // of everything in it
  Bytes daily_bytes{0}; // written a day (UTC), 0: no limit
  Verify verify = Verify::kFirstTouch;
  std::shared_ptr<FileSystem> files;
  std::shared_ptr<Clock> clock;
};

class DiskTierCore;

/// What a load read: what is not among all of it is not there.
enum class Loaded { kChanges, kAll };

class DiskTier {
 public:
  /// Reconciles the folder with its manifest; see report(). kUnsupported where
  /// another version's manifest is there; nothing in it changes then.
  static Result<std::unique_ptr<DiskTier>> open(DiskTierOptions options);
  ~DiskTier();
  DiskTier(const DiskTier&) = delete;
  DiskTier& operator=(const DiskTier&) = delete;

  /// The scope of that text, added where there is none.
  Result<ScopeId> scope(const ScopeText& text);

  /// kNotFound where it is none of this tier's.
  Result<ScopeText> scope_text(ScopeId id);
  /// The node and all before it, the first one first. kNotFound: evicted.
  Result<std::vector<StoredNode>> path(NodeId leaf);

  /// Durable when ok. Writes one segment with what the manifest lacks. Errors,
  /// with nothing stored: kOutOfBudget (the cap, the device or the day's limit
  /// has no room), kNotFound (scope, parent or leaf is gone: evicted
  /// meanwhile), kStale (a newer version of the record exists), kIo.
  /// `committed`: called once it is durable, before anybody can take any of it
  /// away again; as a listener's calls are.
  Result<Stored> store(
      const StoreBatch& batch,
      const std::function<void(const Stored&)>& committed = {});

  /// The bytes of an image, a body or an object, verified by the policy.
  /// kCorrupt: they contradict their checksums and are no longer offered.
  /// kNotFound: evicted.
  Result<MappedImage> map(const Extent& extent);

  /// The manifest names all of these now.
  Result<bool> has(std::span<const NamedImage> images);

  /// Drops what lies in segments that somebody cut short while they were mapped
  /// here; listeners hear of it. As far as the disk lets it.
  void drop_cut();

  /// It hears until the value goes, which must not be in one of its calls. The
  /// tier outlives both.
  [[nodiscard]] std::shared_ptr<const void> listen(TierListener& listener);

  /// Asks the device for all of these at once, so that map() of each finds it
  /// in memory or on its way: many small reads, one after the other, would take
  /// longer. What is returned keeps their segments mapped; errors show in
  /// map().
  std::shared_ptr<const void> will_need(std::span<const Extent> extents);

  /// All that is stored, as of one moment.
  Status load(TierVisitor& visitor);
  /// What came since the last load, by whomever: all scopes and records, and
  /// nodes that are new or have new images, their parents before them. What
  /// went is not said: map() of it is kNotFound. All, where there was no load
  /// of this manifest: the former one was set aside.
  Result<Loaded> load_changes(TierVisitor& visitor);
  /// True where another process changed the manifest since the last load().
  Result<bool> changed_by_others();

  /// Says that nodes were of use, and how many tokens of their state were
  /// served by it: given to rows. Remembered, and written with the next commit
  /// or at the end; waits for no verb.
  void touch(std::span<const NodeId> nodes, int64_t served);
  Status pin_nodes(std::span<const NodeId> nodes, bool pinned);
  Status expire_nodes(std::span<const NodeId> nodes, int64_t wall_ns);
  /// Removes nodes with all that hangs on them: descendants, records.
  Result<Removed> remove_nodes(std::span<const NodeId> nodes);

  /// kNotFound where there is none. One whose time is over is none, here and
  /// below, unless it is pinned or claimed.
  Result<StoredRecord> record(const RecordName& name);
  Result<std::vector<StoredRecord>> records(std::string_view space);
  /// Of all spaces.
  Result<std::vector<StoredRecord>> records();
  Result<std::string> record_body(const RecordName& name);
  /// All of it as of one moment, whatever the scope. kCorrupt, from then on,
  /// where its body cannot be read.
  Result<RecordText> record_text(const RecordName& name);
  /// The same without its body.
  Result<RecordText> record_tokens(const RecordName& name);
  Status pin_record(const RecordName& name, bool pinned);
  /// Removes the record alone; its nodes may serve others. Ok where none is.
  Result<Removed> remove_record(const RecordName& name);
  /// Removes the record and every node that nothing else shares; their bytes
  /// are gone from the folder but for Removed::unerased, which the first sweep
  /// (of any verb that removes, or of an opening) after its last mapping
  /// erases. Manifests that were set aside go too: they name what they knew.
  /// Its tokens may go on in nodes that nothing names: those stay.
  Result<Removed> forget(const RecordName& name);
  /// The same of several, and of texts that no record ends, in one step.
  Result<Forgotten> forget(const ForgetRequest& request);

  /// One segment for all; replaces what has the same key. Durable when ok; the
  /// value says what was evicted to make room.
  Result<Removed> put_objects(std::span<const ObjectToStore> objects);
  /// kNotFound, kCorrupt.
  Result<MappedImage> object(std::string_view space, std::string_view key);
  Result<Removed> remove_object(std::string_view space, std::string_view key);
  Result<Removed> remove_objects(std::string_view space);

  /// Frees at least `wanted` if it can: first what is foreign, then what
  /// expired, then by age x bytes / cost, then records that stand for no node;
  /// never what is pinned, mapped or claimed, never a parent before its
  /// children.
  Result<Removed> evict(Bytes wanted);
  /// Removes what expired, and gives back what is dead and no longer mapped.
  Result<Removed> prune();

  /// Removes everything but the scopes, as forget() does.
  Result<Removed> forget_all();

  /// Reads everything. What contradicts its checksum is dropped. progress: told
  /// the bytes that were read, of all.
  Result<VerifyReport>
  verify(const std::function<void(Bytes done, Bytes total)>& progress = {});
  TierReport report() const;
  Result<TierStats> stats();
  const DiskTierOptions& options() const;
  /// Of whoever works on its records (record_claims.h): nobody evicts them.
  KeyClaims claims() const;

 private:
  explicit DiskTier(std::unique_ptr<DiskTierCore> core);
  std::unique_ptr<DiskTierCore> core_;
};

} // namespace holdfast
