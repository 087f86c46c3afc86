// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/objects/claims.h"

#include <algorithm>

#include "holdfast/base/check.h"

namespace holdfast {

Claims::Held::~Held() {
  for (const ObjectKey& key : keys_) {
    claims_.end(key, std::nullopt);
  }
}

bool Claims::Held::take(const ObjectKey& key) {
  const auto claim = std::make_shared<Claim>();
  claim->maker = std::this_thread::get_id();
  keys_.push_back(key); // may throw: before the claim is there
  const std::lock_guard lock(claims_.mutex_);
  const auto [at, fresh] = claims_.claims_.try_emplace(key, claim);
  if (fresh) {
    return true;
  }
  keys_.pop_back();
  expect(
      at->second->maker != claim->maker,
      "[objects] expected a maker that does not ask for its own object, got "
      "one that does");
  return false;
}

void Claims::Held::end(const ObjectKey& key, std::optional<Object> made) {
  const auto at = std::ranges::find(keys_, key);
  ensure(at != keys_.end(), "[objects] expected a claim to end, got none");
  claims_.end(key, std::move(made));
  keys_.erase(at);
}

void Claims::end(const ObjectKey& key, std::optional<Object> made) {
  const std::lock_guard lock(mutex_);
  const auto at = claims_.find(key);
  at->second->made = std::move(made);
  at->second->ended = true;
  claims_.erase(at);
  ended_.notify_all();
}

std::optional<Object> Claims::await(const ObjectKey& key) {
  std::unique_lock lock(mutex_);
  const auto at = claims_.find(key);
  if (at == claims_.end()) {
    return std::nullopt;
  }
  const std::shared_ptr<Claim> claim = at->second;
  ended_.wait(lock, [&] { return claim->ended; });
  return claim->made;
}

} // namespace holdfast
