// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What is put into a disk tier in one step, all or nothing. Values; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/block/block.h"
#include "holdfast/tier/ids.h"

namespace holdfast {

/// All that decides the bits of a scope's state, in one canonical spelling:
/// signature, adapter digest, tenant salt. Compared as a whole.
struct ScopeText {
  std::string text;
  bool operator==(const ScopeText&) const = default;
};

struct ImageToStore {
  ImageSlot slot;
  BlockRef block; // sealed
  /// How many bytes each checksum covers, in order from the image's first byte.
  /// Their sum is the image: padding counts to the plane before it. Empty: one
  /// checksum for all.
  std::vector<Bytes> planes;
};

/// What a token is taken to cost where nobody says.
inline constexpr int64_t kNsPerToken = 1'000'000;

struct NodeToStore {
  /// Index of an earlier node of the batch, else -1 and `parent` counts.
  int64_t parent_in_batch = -1;
  NodeId parent;
  Key128 key; // a hint; tokens and marks are always compared
  std::vector<int32_t> tokens; // 1 to kBlockTokens
  std::string
      marks; // spans and media digests of these tokens: opaque, compared
  std::vector<ImageToStore> images;
  /// Tails of the same parent whose tokens this node begins with: an image of
  /// theirs goes where this node has one for the slot, and a tail without
  /// images goes whole; records move to this node.
  std::vector<NodeId> supersedes;
  /// To compute these tokens again, ns; 0: kNsPerToken each.
  int64_t cost = 0;
};

/// A named state of one sequence, replaced as a whole.
struct RecordToStore {
  std::string space; // "chat", "generation", ...
  std::string name;
  /// 0: one more than the stored one. Lower than the stored one: kStale.
  uint64_t version = 0;
  /// Index in the batch of the node that holds its last token, else -1 and
  /// `leaf` counts. The root stands for no tokens.
  int64_t leaf_in_batch = -1;
  NodeId leaf;
  Position length; // tokens; the leaf may have more
  std::string body; // attachments and metadata: opaque, checksummed
  bool pinned = false; // neither it nor its nodes are evicted; stays, once set
  int64_t expires_ns = 0; // wall clock; 0: never
  /// Records of the space whose tokens this one's begin with are removed, save
  /// pinned ones: the ancestors of a growing text are no entries of their own.
  bool replaces_prefixes = false;
};

struct StoreBatch {
  ScopeId scope;
  std::vector<NodeToStore> nodes; // parents before children
  std::optional<RecordToStore> record;
};

/// An opaque value under an exact key.
struct ObjectToStore {
  std::string space;
  std::string key;
  std::span<const std::byte> bytes;
  int64_t cost = 0; // to make it again, ns; 0: unknown
  int64_t expires_ns = 0;
};

/// What went out of the manifest, for whoever keeps an index of it.
struct Removed {
  std::vector<NodeId> nodes;
  std::vector<RecordName> records;
  int64_t objects = 0;
  Bytes freed; // given back to the device
  Bytes held; // dead, but a process still has them mapped, or no punching
  Bytes unerased; // of these, what was forgotten and can still be read

  /// Adds what another removal took out of the manifest.
  void add(const Removed& more) {
    nodes.insert(nodes.end(), more.nodes.begin(), more.nodes.end());
    records.insert(records.end(), more.records.begin(), more.records.end());
    objects += more.objects;
  }
  bool is_empty() const {
    return nodes.empty() && records.empty() && objects == 0 && freed == Bytes();
  }
};

struct Stored {
  std::vector<NodeId> nodes; // [batch node]
  std::vector<std::vector<Extent>> images; // [batch node][image]
  Bytes written; // of the segment; 0 where everything was there
  uint64_t version = 0; // of the record
  Removed removed; // superseded, or evicted to make room
};

} // namespace holdfast
