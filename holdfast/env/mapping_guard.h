// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A file that is mapped may be cut short by somebody else: reading what is gone
// raises SIGBUS. While a MappingGuard lives, such reads give zeros instead, and
// the mapping says for good that it is not whole: whoever used it since then
// throws away what came of it. A program decides for itself whether it wants
// one; without it such a read ends the process, as everywhere.
// Threads: any. Reads in system calls are not guarded: those fail with EFAULT.

#pragma once

#include <cstddef>

#include <csignal>

namespace holdfast {

class MappingGuard {
 public:
  /// Takes SIGBUS over, one guard at a time (kInvalidArgument); faults outside
  /// of watched mappings do what they did before.
  MappingGuard();
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

 private:
  struct sigaction before_ = {};
};

/// Watches a mapping from after it is made until before it is unmapped.
class WatchedMapping {
 public:
  WatchedMapping(const void* begin, size_t bytes);
  ~WatchedMapping();
  WatchedMapping(const WatchedMapping&) = delete;
  WatchedMapping& operator=(const WatchedMapping&) = delete;

 private:
  struct Slot;
  friend struct WatchedMappings;
  Slot* slot_;
};

/// False where the address lies in a watched mapping that is not whole. Under a
/// guard its last page is looked at first: that one goes with any other.
bool mapping_is_whole(const void* address);
/// True where every watched mapping is.
bool mappings_are_whole();
/// True once one was found that is not, also after it was unmapped: what was
/// made of it may still be there.
bool mapping_was_cut();

} // namespace holdfast
