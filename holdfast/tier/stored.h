// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a disk tier gives back. Values; any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/env/mapping_guard.h"
#include "holdfast/tier/batch.h"
#include "holdfast/tier/ids.h"

namespace holdfast {

struct StoredImage {
  ImageSlot slot;
  Extent extent;
};

/// An image by what names it.
struct NamedImage {
  NodeId node;
  ImageSlot slot;
  Extent extent;
};

struct StoredNode {
  NodeId id;
  ScopeId scope;
  NodeId parent;
  Key128 key;
  std::vector<int32_t> tokens;
  std::string marks;
  std::vector<StoredImage> images;
  int64_t used_ns = 0; // wall clock of the last use
  int64_t uses = 0;
  int64_t cost = 0;
  int64_t expires_ns = 0; // 0: never
  bool pinned = false;
};

struct StoredRecord {
  RecordName name;
  ScopeId scope;
  uint64_t version = 0;
  NodeId leaf;
  Position length;
  Extent body; // of no bytes: empty, and no segment
  bool body_lost = false; // it had one, which could not be read
  int64_t stored_ns = 0; // wall clock
  int64_t expires_ns = 0;
  bool pinned = false;
};

/// A record with the text that it stands for.
struct RecordText {
  StoredRecord record;
  std::string scope; // the scope's text
  std::vector<int32_t> tokens; // record.length
  /// [block], as NodeToStore's; the last may have some of tokens that the leaf
  /// has behind the record's end.
  std::vector<std::string> marks;
  std::vector<Key128> keys; // [block], of their nodes
  std::vector<int32_t> rest; // what the leaf has behind the record's end
  std::string body;
};

/// What a tier dropped because it could not be read.
struct Lost {
  std::vector<NodeId> nodes; // that had nothing else
  std::vector<Extent> images;
  /// A segment that is mapped was cut short. What nothing names any more, of
  /// all that was mapped from it, is as bad: BlockRef::intact() says.
  bool cut = false;
  bool is_empty() const {
    return nodes.empty() && images.empty() && !cut;
  }
};

/// Receives what DiskTier::load reads: all scopes, then nodes with each parent
/// before its children, then records. It must not call the tier.
class TierVisitor {
 public:
  virtual ~TierVisitor() = default;
  /// Comes first; a second time where reading starts over: what came before
  /// does not count.
  virtual void begin() = 0;
  virtual void scope(ScopeId id, const ScopeText& text) = 0;
  virtual void node(StoredNode node) = 0;
  virtual void record(StoredRecord record) = 0;
};

/// Bytes of a segment, mapped. They stay as they are while a copy of this
/// lives, whatever is stored, evicted or renamed meanwhile.
class MappedImage {
 public:
  MappedImage() = default; // of no bytes
  MappedImage(std::shared_ptr<const std::byte> bytes, Bytes size)
      : bytes_(std::move(bytes)), size_(size) {}

  std::span<const std::byte> bytes() const {
    return {bytes_.get(), static_cast<size_t>(size_.get())};
  }
  Bytes size() const {
    return size_;
  }
  /// Asked after the bytes were used: false where somebody cut the file short
  /// meanwhile, so that they mean nothing (mapping_guard.h).
  bool intact() const {
    return !bytes_ || mapping_is_whole(bytes_.get());
  }
  /// The same bytes; keeps the mapping and its lease alive.
  const std::shared_ptr<const std::byte>& owner() const {
    return bytes_;
  }

 private:
  std::shared_ptr<const std::byte> bytes_;
  Bytes size_;
};

} // namespace holdfast
