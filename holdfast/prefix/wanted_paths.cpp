// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/wanted_paths.h"

#include <algorithm>
#include <utility>

namespace holdfast {

namespace {

/// Each image once, however often it is wanted.
void add_fresh(
    const std::vector<FreshImages>& older,
    std::vector<FreshImages>& fresh) {
  std::unordered_map<uint64_t, size_t> places;
  const auto key = [](NodeHandle node) {
    return uint64_t{node.generation} << 32 | node.index;
  };
  for (size_t i = 0; i < fresh.size(); ++i) {
    places.emplace(key(fresh[i].node), i);
  }
  for (const FreshImages& each : older) {
    const auto [place, added] = places.emplace(key(each.node), fresh.size());
    if (added) {
      fresh.push_back(each);
      continue;
    }
    auto& slots = fresh[place->second].slots;
    for (const ImageSlot slot : each.slots) {
      if (std::ranges::find(slots, slot) == slots.end()) {
        slots.push_back(slot);
      }
    }
  }
}

} // namespace

Bytes WantedPath::bytes() const {
  const size_t own = tokens->size() * sizeof(int32_t) +
      marks.size() * sizeof(TokenMark) + sizeof(WantedPath);
  const Bytes path(static_cast<int64_t>(own));
  if (!record) {
    return path;
  }
  return path + record->body.bytes() +
      Bytes(static_cast<int64_t>(
          record->name.space.size() + record->name.name.size()));
}

WantedPaths::Shared WantedPaths::put(const RecordKey& key, WantedPath wanted) {
  const std::lock_guard lock(mutex_);
  Shared& place = wanted_[key];
  Bytes more = wanted.bytes();
  wanted.version = 1;
  if (place) {
    wanted.version = place->version + 1;
    more -= place->bytes();
    lost_.erase(place->number);
    if (!wanted.record) {
      add_fresh(place->fresh, wanted.fresh);
    }
  }
  wanted.number = next_++;
  place = std::make_shared<const WantedPath>(std::move(wanted));
  reserved_ -= std::clamp(more, Bytes(), reserved_);
  count(more);
  return place;
}

WantedPaths::Shared WantedPaths::find(const RecordKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto at = wanted_.find(key);
  return at == wanted_.end() ? nullptr : at->second;
}

std::vector<WantedPaths::Shared> WantedPaths::all() const {
  std::vector<Shared> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, wanted] : wanted_) {
    found.push_back(wanted);
  }
  return found;
}

std::vector<WantedPaths::Shared>
WantedPaths::records(std::string_view space) const {
  std::vector<Shared> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, wanted] : wanted_) {
    if (wanted->record && key.space == space) {
      found.push_back(wanted);
    }
  }
  std::ranges::sort(
      found, {}, [](const Shared& wanted) { return wanted->record->name; });
  return found;
}

void WantedPaths::done(const RecordKey& key, const WantedPath& wanted) {
  const std::lock_guard lock(mutex_);
  const auto at = wanted_.find(key);
  if (at != wanted_.end() && at->second->number == wanted.number) {
    erase(at);
  }
}

void WantedPaths::lost(const RecordKey& key, const WantedPath& wanted) {
  const std::lock_guard lock(mutex_);
  const auto at = wanted_.find(key);
  if (at != wanted_.end() && at->second->number == wanted.number &&
      !wanted.record) {
    lost_.emplace(wanted.number, key);
  }
}

std::vector<RecordKey> WantedPaths::give_up_lost(Bytes most) {
  std::vector<RecordKey> given_up;
  const std::lock_guard lock(mutex_);
  while (bytes_ > most && !lost_.empty()) {
    const auto [number, key] = *lost_.begin();
    lost_.erase(lost_.begin());
    const auto at = wanted_.find(key);
    if (at != wanted_.end() && at->second->number == number) {
      erase(at);
      given_up.push_back(key);
    }
  }
  return given_up;
}

bool WantedPaths::remove(const RecordKey& key) {
  const std::lock_guard lock(mutex_);
  const auto at = wanted_.find(key);
  if (at == wanted_.end()) {
    return false;
  }
  erase(at);
  return true;
}

void WantedPaths::erase(Table::iterator at) {
  const Bytes gone = at->second->bytes();
  lost_.erase(at->second->number);
  wanted_.erase(at);
  count(Bytes() - gone);
}

Bytes WantedPaths::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

Bytes WantedPaths::with(const RecordKey& key, const WantedPath& wanted) const {
  const auto at = wanted_.find(key);
  const Bytes before = at == wanted_.end() ? Bytes() : at->second->bytes();
  return bytes_ - before + wanted.bytes();
}

Bytes WantedPaths::bytes_with(const RecordKey& key, const WantedPath& wanted)
    const {
  const std::lock_guard lock(mutex_);
  return with(key, wanted);
}

WantedPaths::Reserved::Reserved(
    WantedPaths& paths,
    const RecordKey& key,
    const WantedPath& wanted)
    : paths_(paths) {
  const std::lock_guard lock(paths_.mutex_);
  paths_.reserve(std::max(paths_.with(key, wanted) - paths_.bytes_, Bytes()));
}

WantedPaths::Reserved::~Reserved() {
  const std::lock_guard lock(paths_.mutex_);
  paths_.reserve(Bytes());
}

void WantedPaths::reserve(Bytes more) {
  if (reserved_ != more) {
    reserved_ = more;
    tell_locked();
  }
}

void WantedPaths::tell_locked() const {
  if (changed_) {
    changed_(bytes_ + reserved_);
  }
}

void WantedPaths::count(Bytes more) {
  bytes_ += more;
  if (more != Bytes()) {
    tell_locked();
  }
}

} // namespace holdfast
