// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What durability knows of stored state: a key, a content it cannot look into,
// where contents come from and where they go. Values are immutable; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"

namespace holdfast {

/// What a record is known by: a namespace and its tokens, never null; or, where
/// its tokens change from one put to the next, a name instead of them. Shared,
/// because tokens of a long context are not copied for each of its books.
struct RecordKey {
  std::string space;
  std::shared_ptr<const std::vector<int32_t>> tokens;
  std::string name = {};

  /// Compares the tokens themselves.
  bool operator==(const RecordKey& other) const;
};

/// For hash tables.
struct RecordKeyHash {
  size_t operator()(const RecordKey& key) const;
};

/// Settled memory of a record: sealed blocks and copied bytes, nothing that can
/// still change. Held until it is written.
class RecordContent {
 public:
  virtual ~RecordContent() = default;
  /// What it keeps alive, whole images.
  virtual Bytes bytes() const = 0;
  /// Blocks of its record that it leaves to a later content.
  virtual int64_t left() const {
    return 0;
  }
};

/// Where contents come from: state in RAM.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  /// The newest content under `key`; kNotFound where it was evicted. Any
  /// thread; called with no lock of the caller held.
  virtual Result<std::shared_ptr<const RecordContent>>
  make(const RecordKey& key) = 0;
};

/// Where they go. Calls block and may come from several threads, for different
/// keys at once and for one key one at a time.
class RecordStore {
 public:
  virtual ~RecordStore() = default;
  /// Ok: the record is on disk and survives a power loss. Otherwise nothing
  /// of it is visible.
  virtual Status store(
      const RecordKey& key,
      uint64_t version,
      const RecordContent& content) = 0;
  /// True where what is on disk is what store() of the version would leave.
  /// Versions are those of one coordinator: another one begins at 1.
  virtual bool is_durable(const RecordKey& key, uint64_t version) = 0;
  /// True where a longer record on disk can be restored at this one's length,
  /// in every group: recurrent snapshot, blocks of the window, precision floor;
  /// and this one has nothing beside its state that would be lost.
  virtual bool is_covered(const RecordKey& key) = 0;
};

} // namespace holdfast
