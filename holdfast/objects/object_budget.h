// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The bytes of a cache's objects, counted from before their allocation until
// their last holder lets go: what the cache keeps, what was handed out, what
// waits to be written, each once. Threads: any.

#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "holdfast/objects/object.h"
#include "holdfast/objects/shared_ram.h"

namespace holdfast {

class ObjectBudget {
 public:
  explicit ObjectBudget(Bytes limit);

  Bytes live() const;
  Bytes limit() const;
  void set_limit(Bytes limit);
  /// How many of these bytes do not fit.
  Bytes lacking(Bytes more) const;

  // Of a part of a shared budget; see RamUser.

  Bytes unused() const; // below 0 where more lives than the limit
  /// By how many bytes the limit is lower now: at most what is unused.
  Bytes lower(Bytes wanted);
  void raise(Bytes more);
  /// The part ends: what is unused, and what is let go of later, goes there.
  void end(std::shared_ptr<SharedRam> shared);

  /// What an object of that size counts: memory comes in lines, what is foreign
  /// in pages.
  static Bytes own_bytes(Bytes size);
  static Bytes foreign_bytes(Bytes size);

  /// Memory of its own, of 1 byte or more, not written yet. Nothing where it
  /// does not fit.
  std::optional<OpenObject> open(Bytes size);
  /// A mapped file's, counted alike. Nothing where it does not fit.
  std::optional<Object>
  adopt(std::shared_ptr<const std::byte> bytes, Bytes size);

 private:
  struct Count;
  /// Counts while it lives; null where it does not fit.
  std::shared_ptr<void> charge(Bytes bytes);

  std::shared_ptr<Count> count_; // shared with the objects
};

} // namespace holdfast
