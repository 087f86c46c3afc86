// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/mapping_guard.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

#include "holdfast/base/check.h"

namespace holdfast {

/// Slots are never freed, for the handler walks them without a lock.
struct WatchedMapping::Slot {
  std::atomic<uintptr_t> begin{0}; // 0: of no mapping
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> cut{false};
  Slot* next = nullptr; // set before the slot is seen
};

namespace {

const uintptr_t kPage = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
std::atomic<bool> guarded{false};
std::atomic<bool> any_cut{false}; // for good
struct sigaction former = {};

} // namespace

/// All that are, and the lock against their end.
struct WatchedMappings {
  using Slot = WatchedMapping::Slot;

  static inline std::atomic<Slot*> first{nullptr};
  static inline std::mutex mutex;
  static_assert(std::atomic<Slot*>::is_always_lock_free);

  static Slot* find(uintptr_t address) {
    for (Slot* slot = first.load(); slot; slot = slot->next) {
      const uintptr_t begin = slot->begin.load();
      if (begin != 0 && begin <= address && address < slot->end.load()) {
        return slot;
      }
    }
    return nullptr;
  }

  /// Under the mutex, so that it is not unmapped meanwhile.
  static bool whole(const Slot& slot) {
    if (guarded.load() && !slot.cut.load()) {
      const uintptr_t last = slot.end.load() - 1;
      [[maybe_unused]] const std::byte seen =
          *reinterpret_cast<const volatile std::byte*>(last);
    }
    return !slot.cut.load();
  }

  static Slot& take(uintptr_t begin, uintptr_t end) {
    const std::lock_guard hold(mutex);
    Slot* slot = first.load();
    while (slot && slot->begin.load() != 0) {
      slot = slot->next;
    }
    const bool is_new = slot == nullptr;
    slot = is_new ? new Slot : slot;
    slot->cut = false;
    slot->end = end;
    slot->begin = begin;
    if (is_new) {
      slot->next = first.load();
      first = slot;
    }
    return *slot;
  }

  static void leave(Slot& slot) {
    const std::lock_guard hold(mutex);
    slot.begin = 0;
  }

  /// Only what a handler may do: no allocation, no lock.
  static bool mend(uintptr_t address) {
    Slot* slot = find(address);
    if (!slot) {
      return false;
    }
    slot->cut = true;
    any_cut = true;
    void* page = reinterpret_cast<void*>(address / kPage * kPage);
    return ::mmap(
               page,
               kPage,
               PROT_READ,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
               -1,
               0) != MAP_FAILED;
  }
};

namespace {

extern "C" void on_cut_mapping(int, siginfo_t* info, void*) {
  const int error = errno;
  if (!WatchedMappings::mend(reinterpret_cast<uintptr_t>(info->si_addr))) {
    // Not ours: the fault comes again, and does what it did before.
    ::sigaction(SIGBUS, &former, nullptr);
  }
  errno = error;
}

} // namespace

MappingGuard::MappingGuard() {
  expect(
      !guarded.exchange(true),
      "[MappingGuard] expected one guard at a time, got a second");
  struct sigaction action = {};
  action.sa_sigaction = on_cut_mapping;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, nullptr, &before_);
  former = before_;
  ::sigaction(SIGBUS, &action, nullptr);
}

MappingGuard::~MappingGuard() {
  ::sigaction(SIGBUS, &before_, nullptr);
  guarded = false;
}

WatchedMapping::WatchedMapping(const void* begin, size_t bytes)
    : slot_(&WatchedMappings::take(
          reinterpret_cast<uintptr_t>(begin),
          reinterpret_cast<uintptr_t>(begin) + bytes)) {}

WatchedMapping::~WatchedMapping() {
  WatchedMappings::leave(*slot_);
}

bool mapping_is_whole(const void* address) {
  const std::lock_guard hold(WatchedMappings::mutex);
  const auto* slot =
      WatchedMappings::find(reinterpret_cast<uintptr_t>(address));
  return !slot || WatchedMappings::whole(*slot);
}

bool mappings_are_whole() {
  const std::lock_guard hold(WatchedMappings::mutex);
  bool all = true;
  for (const auto* slot = WatchedMappings::first.load(); slot;
       slot = slot->next) {
    all &= slot->begin.load() == 0 || WatchedMappings::whole(*slot);
  }
  return all;
}

bool mapping_was_cut() {
  return any_cut.load();
}

} // namespace holdfast
