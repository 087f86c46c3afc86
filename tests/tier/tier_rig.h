// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// For tests of tier/: images whose bytes follow from what they stand for, so
// that whatever a tier offers can be checked without a copy, and a tier in a
// folder of a file system in memory. Threads: one at a time.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/block/pool.h"
#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/tier/disk_tier.h"

namespace holdfast::test {

using Tokens = std::vector<int32_t>;

/// Tokens of a chat: those before `fork` are of chat 0.
Tokens chat_tokens(int chat, int64_t count, int64_t fork = 0);
std::string text_of(const MappedImage& image);

/// The slots of a model with two layer groups: 4096 and 8192 bytes.
inline constexpr ImageSlot kFull{0, 0};
inline constexpr ImageSlot kSliding{1, 0};

class Images {
 public:
  Images();
  /// The image of the node that ends a path: a function of path and slot.
  ImageToStore image(const Tokens& path, ImageSlot slot) const;
  /// What it holds.
  static std::string text(const Tokens& path, ImageSlot slot);
  static Bytes bytes(ImageSlot slot);

 private:
  mutable BlockPool pool_;
};

/// A batch with all nodes of a path, from the root on.
StoreBatch
path_batch(ScopeId scope, const Tokens& tokens, const Images& images);
/// The same with a record at its end.
StoreBatch chat_batch(
    ScopeId scope,
    const Tokens& tokens,
    const std::string& name,
    const Images& images);

/// Everything that a tier offers, read and checked: an image that is not what
/// its path says is a failure of the test.
class Offered : public TierVisitor {
 public:
  void begin() override;
  void scope(ScopeId id, const ScopeText& text) override;
  void node(StoredNode node) override;
  void record(StoredRecord record) override;

  struct Node {
    StoredNode stored;
    Tokens path; // from the root, its own tokens included
  };
  std::map<NodeId, Node> nodes;
  std::map<ScopeId, std::string> scopes;
  std::map<RecordName, StoredRecord> records;

  /// The node whose path that is, or null.
  const Node* find(const Tokens& path) const;
  /// How many of the tokens have both images, from the first block on.
  int64_t restorable(const Tokens& tokens) const;
};

/// Loads, maps every image and compares.
Offered offered(DiskTier& tier);

struct TierRig {
  std::shared_ptr<MemoryFileSystem> memory = MemoryFileSystem::make();
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  Images images;
  DiskTierOptions options; // folder, files and clock are set

  TierRig();
  /// Throws where it cannot be opened.
  std::unique_ptr<DiskTier> open() const;
  /// Of everything below the folder, as the file system counts it.
  Bytes folder_bytes() const;
  std::vector<std::string> names(const std::string& below = "") const;
};

/// Of a folder; throws where there is none.
std::vector<std::string> names_in(FileSystem& files, const std::string& path);
Bytes bytes_below(FileSystem& files, const std::string& path);
/// The only file of the folder that is a segment; with its path.
std::vector<std::string>
segments_of(FileSystem& files, const std::string& path);
/// Changes one byte of a file.
void flip(FileSystem& files, const std::string& path, int64_t offset);
/// Everything that counters say, recomputed: no fault, and the budget holds.
void expect_consistent(DiskTier& tier);

} // namespace holdfast::test
