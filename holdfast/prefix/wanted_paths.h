// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Paths that the disk shall have and has not yet, with the records that go with
// them; where there is no disk, the records that are kept here. Internal to
// prefix/.
//
// Threads: any. Values do not change once they are in.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "holdfast/prefix/named_record.h"
#include "holdfast/prefix/prefix_tree.h"
#include "holdfast/tier/record.h"

namespace holdfast {

struct WantedPath {
  std::shared_ptr<const std::vector<int32_t>> tokens;
  std::vector<TokenMark> marks;
  std::vector<FreshImages> fresh; // what of it only RAM has
  /// So many leading tokens had state when it was put. A write with less is no
  /// write of it.
  Position state;
  std::optional<NamedRecord> record; // none: its nodes alone
  int64_t put_ns = 0; // wall clock
  // Given by WantedPaths:
  uint64_t number = 0; // of the put, over all keys
  uint64_t version = 0; // one more than what it took the place of

  Path path() const {
    return {*tokens, marks};
  }
  /// Of tokens and marks, and of a record's body and name.
  Bytes bytes() const;
};

class WantedPaths {
 public:
  using Shared = std::shared_ptr<const WantedPath>;

  /// changed: told what they take, or will, whenever that changes. It
  /// may not call back.
  explicit WantedPaths(std::function<void(Bytes)> changed = {})
      : changed_(std::move(changed)) {}

  /// Takes the place of what was under the key; of a path without a record, the
  /// images that were wanted still are.
  Shared put(const RecordKey& key, WantedPath wanted);
  /// Null where there is none.
  Shared find(const RecordKey& key) const;
  std::vector<Shared> all() const;
  /// Those with a record in that space.
  std::vector<Shared> records(std::string_view space) const;
  /// Removes it unless another put has replaced it.
  void done(const RecordKey& key, const WantedPath& wanted);
  bool remove(const RecordKey& key);
  /// The state of a path without a record is gone, unless another put has
  /// replaced it.
  void lost(const RecordKey& key, const WantedPath& wanted);
  /// Removes such paths, the oldest first, while all take more than that.
  std::vector<RecordKey> give_up_lost(Bytes most);
  /// What all of them take.
  Bytes bytes() const;
  /// The same once `wanted` is there, under that key.
  Bytes bytes_with(const RecordKey& key, const WantedPath& wanted) const;

  /// Makes room for what a path will take before it is put, so that its put
  /// lets go of nothing; puts take it from there. One at a time.
  class Reserved {
   public:
    Reserved(
        WantedPaths& paths,
        const RecordKey& key,
        const WantedPath& wanted);
    ~Reserved();
    Reserved(const Reserved&) = delete;
    Reserved& operator=(const Reserved&) = delete;

   private:
    WantedPaths& paths_;
  };

 private:
  using Table = std::unordered_map<RecordKey, Shared, RecordKeyHash>;

  void erase(Table::iterator at);
  Bytes with(const RecordKey& key, const WantedPath& wanted) const;
  void tell_locked() const;
  void reserve(Bytes more);
  void count(Bytes more);

  const std::function<void(Bytes)> changed_;
  mutable std::mutex mutex_; // for all below
  Table wanted_;
  std::map<uint64_t, RecordKey> lost_; // by the number of their put
  uint64_t next_ = 1;
  Bytes bytes_;
  Bytes reserved_;
};

} // namespace holdfast
