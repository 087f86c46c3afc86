// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/image_flights.h"

#include <algorithm>

namespace holdfast {

std::optional<uint64_t> ImageFlights::take(const std::vector<Name>& names) {
  const std::lock_guard lock(mutex_);
  const bool free = std::ranges::none_of(
      names, [&](const Name& name) { return taken_.contains(name); });
  if (!free) {
    return count_;
  }
  taken_.insert(names.begin(), names.end());
  return std::nullopt;
}

void ImageFlights::give_back(const std::vector<Name>& names) {
  if (names.empty()) {
    return; // nobody waits for these
  }
  const std::lock_guard lock(mutex_);
  for (const Name& name : names) {
    taken_.erase(name);
  }
  ++count_;
  given_back_.notify_all();
}

void ImageFlights::wait(uint64_t count) {
  std::unique_lock lock(mutex_);
  given_back_.wait(lock, [&] { return count_ != count; });
}

} // namespace holdfast
