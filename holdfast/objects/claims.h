// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to objects/: who makes which object, so that two who miss the same
// key make it once. A call claims all keys that it will make before it makes
// any, and waits for others' only when it holds no claim: no two calls can wait
// for each other. Threads: any; no lock is held while something is made.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "holdfast/objects/object.h"

namespace holdfast {

class Claims {
 private:
  struct Claim {
    std::thread::id maker;
    bool ended = false;
    std::optional<Object> made;
  };

 public:
  /// What one call claimed; whatever it has not ended ends with it, as failed.
  class Held {
   public:
    explicit Held(Claims& claims) : claims_(claims) {}
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    /// True where the key is this call's from now on; false where another
    /// thread makes it. Throws kInvalidArgument where this thread does, further
    /// up.
    bool take(const ObjectKey& key);
    /// Nothing: it was not made, or not kept.
    void end(const ObjectKey& key, std::optional<Object> made);

   private:
    Claims& claims_;
    std::vector<ObjectKey> keys_;
  };

  /// Waits while somebody makes the key; what came of it. Nothing where it was
  /// made by nobody, or not kept.
  std::optional<Object> await(const ObjectKey& key);

 private:
  void end(const ObjectKey& key, std::optional<Object> made);

  std::mutex mutex_;
  std::condition_variable ended_;
  std::unordered_map<ObjectKey, std::shared_ptr<Claim>, ObjectKeyHash> claims_;
};

} // namespace holdfast
