// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to objects/: objects as records of a durability coordinator. Where
// their bytes come from is said by two functions; they go to a disk tier.
// Threads: any.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "holdfast/objects/object.h"
#include "holdfast/tier/disk_tier.h"
#include "holdfast/tier/record.h"

namespace holdfast {

/// The coordinator's name of an object, and back. It has no tokens: an object
/// is all attachment.
RecordKey record_key(const ObjectKey& key);
ObjectKey object_key(const RecordKey& key);

class ObjectStore : public RecordSource, public RecordStore {
 public:
  struct InRam {
    Object object;
    int64_t cost = 0;
  };
  /// What RAM has; called with no lock held.
  using Find = std::function<std::optional<InRam>(const ObjectKey&)>;
  /// The disk has it.
  using OnDisk = std::function<void(const ObjectKey&, const Object&)>;

  /// The tier outlives this.
  ObjectStore(DiskTier& disk, Find find, OnDisk on_disk);

  Result<std::shared_ptr<const RecordContent>>
  make(const RecordKey& key) override;
  Status store(
      const RecordKey& key,
      uint64_t version,
      const RecordContent& content) override;
  /// Compares the bytes.
  bool is_durable(const RecordKey& key, uint64_t version) override;
  bool is_covered(const RecordKey& key) override;

 private:
  class Content;

  DiskTier& disk_;
  const Find find_;
  const OnDisk on_disk_;
};

} // namespace holdfast
