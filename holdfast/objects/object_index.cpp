// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/objects/object_index.h"

#include <algorithm>
#include <utility>

namespace holdfast {

const ObjectIndex::Entry* ObjectIndex::find(const ObjectKey& key) const {
  const auto at = entries_.find(key);
  return at == entries_.end() ? nullptr : &at->second.entry;
}

const ObjectIndex::Entry* ObjectIndex::use(const ObjectKey& key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) {
    return nullptr;
  }
  order_.erase({at->second.place, &*at});
  list(*at);
  return &at->second.entry;
}

void ObjectIndex::set_put(const ObjectKey& key) {
  if (const auto at = entries_.find(key); at != entries_.end()) {
    at->second.entry.from_disk = false;
  }
}

Object ObjectIndex::put(const ObjectKey& key, Entry entry) {
  Object old = remove(key);
  const auto [at, fresh] = entries_.try_emplace(key);
  at->second.entry = std::move(entry);
  on_disk_ += at->second.entry.on_disk;
  bytes_ += at->second.entry.object.held();
  list(*at);
  return old;
}

void ObjectIndex::set_on_disk(const ObjectKey& key, const Object& object) {
  const auto at = entries_.find(key);
  if (at == entries_.end() || !(at->second.entry.object == object) ||
      at->second.entry.on_disk) {
    return;
  }
  order_.erase({at->second.place, &*at});
  at->second.entry.on_disk = true;
  ++on_disk_;
  // No use of it: its number stays.
  at->second.place = {false, 0, std::get<uint64_t>(at->second.place)};
  order_.emplace(at->second.place, &*at);
}

void ObjectIndex::set_off_disk(const ObjectKey& key) {
  const auto at = entries_.find(key);
  if (at == entries_.end() || !at->second.entry.on_disk) {
    return;
  }
  order_.erase({at->second.place, &*at});
  at->second.entry.on_disk = false;
  --on_disk_;
  list(*at);
}

Object ObjectIndex::remove(const ObjectKey& key) {
  const auto at = entries_.find(key);
  return at == entries_.end() ? Object() : take(at);
}

std::vector<ObjectIndex::Entries::value_type*>
ObjectIndex::leaving(Bytes wanted) const {
  std::vector<Entries::value_type*> result;
  Bytes held;
  for (auto at = order_.begin(); at != order_.end() && held < wanted; ++at) {
    const Object& object = at->second->second.entry.object;
    // Another reference can be had from the cache alone, whose lock is held:
    // one of 1 is ours.
    if (object.owner().use_count() == 1) {
      held += object.held();
      result.push_back(at->second);
    }
  }
  return result;
}

ObjectIndex::Evicted ObjectIndex::evict(Bytes wanted, Take how) {
  Evicted result;
  const auto items = leaving(wanted);
  for (const auto* item : items) {
    result.held += item->second.entry.object.held();
  }
  if (how == Take::kAllOrNothing && result.held < wanted) {
    return {};
  }
  for (const auto* item : items) {
    if (!item->second.entry.on_disk) {
      rank_ = std::max(rank_, std::get<double>(item->second.place));
      ++result.lost;
    }
    result.objects.push_back(take(entries_.find(item->first)));
  }
  return result;
}

std::optional<LeavingRam> ObjectIndex::next(uint64_t now) const {
  const auto first = leaving(Bytes(1));
  if (first.empty()) {
    return std::nullopt;
  }
  const Kept& kept = first.front()->second;
  const Entry& entry = kept.entry;
  return leaving_ram(
      now - std::get<uint64_t>(kept.place),
      entry.object.held(),
      entry.on_disk ? 0 : static_cast<double>(entry.cost));
}

Bytes ObjectIndex::may_leave(Bytes most) const {
  Bytes held;
  for (const auto* item : leaving(most)) {
    held += item->second.entry.object.held();
  }
  return held;
}

ObjectIndex::Place ObjectIndex::next_place(const Entry& entry) {
  uses_ = shared_ ? shared_->use() : uses_ + 1;
  const uint64_t use = uses_;
  if (entry.on_disk) {
    return {false, 0, use};
  }
  // What is unknown is taken as a nanosecond a byte: about a read.
  const double each = entry.cost > 0 ? static_cast<double>(entry.cost) /
          static_cast<double>(entry.object.size().get())
                                     : 1;
  return {true, rank_ + each, use};
}

void ObjectIndex::list(Entries::value_type& item) {
  item.second.place = next_place(item.second.entry);
  order_.emplace(item.second.place, &item);
}

Object ObjectIndex::take(Entries::iterator at) {
  order_.erase({at->second.place, &*at});
  on_disk_ -= at->second.entry.on_disk;
  bytes_ -= at->second.entry.object.held();
  Object object = std::move(at->second.entry.object);
  entries_.erase(at);
  return object;
}

} // namespace holdfast
