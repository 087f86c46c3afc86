// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/objects/shared_ram.h"

#include <algorithm>

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

/// Free room is given out in at least so much, so that a cache which grows in
/// small steps asks seldom; what it does not use it gives to who asks.
constexpr Bytes kGrain{int64_t{1} << 20};

void require_limit(Bytes limit) {
  expect(
      limit >= Bytes(0), "[SharedRam] expected a limit of 0 or more, got less");
}

} // namespace

SharedRam::SharedRam(Bytes limit) : limit_(limit.get()), free_(limit.get()) {
  require_limit(limit);
}

void SharedRam::set_limit(Bytes limit) {
  require_limit(limit);
  const std::lock_guard lock(mutex_);
  free_ += limit.get() - limit_.exchange(limit.get());
  settle_locked();
}

Bytes SharedRam::used() {
  const std::lock_guard lock(mutex_);
  Bytes sum(limit_ - free_);
  for (RamUser* user : users_) {
    sum -= user->unused();
  }
  return sum;
}

void SharedRam::join(RamUser& user) {
  const std::lock_guard lock(mutex_);
  users_.push_back(&user);
}

void SharedRam::leave(RamUser& user) {
  const std::lock_guard lock(mutex_);
  std::erase(users_, &user);
}

Bytes SharedRam::take_free(Bytes wanted) {
  const Bytes taken = std::clamp(Bytes(free_), Bytes(0), wanted);
  free_ -= taken.get();
  return taken;
}

Bytes SharedRam::take_unused(Bytes wanted, const RamUser* spared) {
  Bytes taken;
  for (RamUser* user : users_) {
    if (user != spared && taken < wanted) {
      taken += user->give(wanted - taken, RamUser::From::kUnused);
    }
  }
  return taken;
}

Bytes SharedRam::take_entries(Bytes wanted, RamUser* asker, Ask how) {
  RamUser* const rival = how == Ask::kFromOthers ? asker : nullptr;
  const auto own = rival ? rival->next_to_leave(uses_) : std::nullopt;
  std::vector<RamUser*> left;
  std::ranges::remove_copy(users_, std::back_inserter(left), rival);
  Bytes taken;
  Bytes left_own;
  while (taken + left_own < wanted) {
    RamUser* first = nullptr;
    LeavingRam least{.bytes = {}, .pressure = own ? own->pressure : -1};
    for (RamUser* user : left) {
      const auto next = user->next_to_leave(uses_);
      if (next && next->pressure > least.pressure) {
        first = user;
        least = *next;
      }
    }
    if (!first) {
      break;
    }
    const Bytes part =
        std::min(wanted - taken - left_own, std::max(least.bytes, Bytes(1)));
    const Bytes given = first == asker
        ? asker->let_go(part)
        : first->give(part, RamUser::From::kEntries);
    (first == asker ? left_own : taken) += given;
    if (given == Bytes(0)) { // taken into use meanwhile
      std::erase(left, first);
    }
  }
  return taken;
}

bool SharedRam::can_have(Bytes room) {
  Bytes sum(free_);
  for (RamUser* other : users_) {
    sum += other->unused();
  }
  for (RamUser* other : users_) {
    if (sum < room) {
      sum += other->may_leave(room - sum);
    }
  }
  return sum >= room;
}

void SharedRam::settle_locked() {
  if (const Bytes owed(-free_); owed > Bytes(0)) {
    Bytes paid = take_unused(owed, nullptr);
    paid += take_entries(owed - paid, nullptr, Ask::kWhole);
    free_ += paid.get();
  }
}

void SharedRam::settle() {
  if (free_ < 0) {
    const std::lock_guard lock(mutex_);
    settle_locked();
  }
}

bool SharedRam::ask(RamUser& user, Bytes room, Ask how) {
  const std::lock_guard lock(mutex_);
  settle_locked();
  const Bytes unused = user.unused();
  if (unused >= room) {
    return true;
  }
  if (how == Ask::kWhole && !can_have(room)) {
    return false;
  }
  // Its part is at no moment less than it was: other threads of the user count
  // on it without asking.
  const Bytes lacking = room - unused;
  Bytes got = take_free(std::max(lacking, kGrain));
  if (got < lacking) {
    got += take_unused(lacking - got, &user);
  }
  if (got < lacking) {
    got += take_entries(lacking - got, &user, how);
  }
  user.take(got);
  return user.unused() >= room;
}

} // namespace holdfast
