// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/measure/restore_trial.h"

#include <algorithm>
#include <random>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/engine/forward.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/measure/seconds.h"

namespace holdfast::measure {

namespace {

constexpr Bytes kRoom{int64_t{1} << 50}; // no budget is measured here

} // namespace

std::unique_ptr<PrefixCache> open_cache(State& state, std::string folder) {
  DiskTierOptions disk;
  disk.folder = std::move(folder);
  disk.max_bytes = kRoom;
  disk.files = posix_file_system();
  disk.clock = system_clock();
  PrefixCacheOptions options;
  options.ram = kRoom;
  options.disk = std::move(DiskTier::open(std::move(disk))).value();
  return std::make_unique<PrefixCache>(state, std::move(options));
}

RestoreTrial::RestoreTrial(const LoadedModel& loaded, const RestoreSetup& setup)
    : loaded_(loaded), setup_(setup) {}

FirstToken RestoreTrial::first_token(
    std::span<const int32_t> prompt,
    const std::function<void(int64_t, int64_t)>& progress) {
  expect(!state_, "[RestoreTrial] expected one first token, got another");
  expect(!prompt.empty(), "[RestoreTrial] expected a prompt, got no token");
  FirstToken result;
  result.open = time_of([&] {
    state_ = make_state(loaded_, setup_.state);
    cache_ = open_cache(*state_, setup_.folder);
  });
  result.begin = time_of([&] {
    const Begun begun = cache_->begin({.tokens = prompt});
    row_ = begun.row;
    result.reused = begun.reused;
    result.from_disk = begun.why.from_disk;
  });
  result.state = state_->retained_bytes(row_);
  committed_.assign(
      prompt.begin(), prompt.begin() + state_->length(row_).get());
  const double computing = seconds();
  while (std::ssize(committed_) < std::ssize(prompt)) {
    if (progress) {
      progress(std::ssize(committed_), std::ssize(prompt));
    }
    const auto rest = prompt.subspan(committed_.size());
    const auto part = rest.first(static_cast<size_t>(
        std::min({std::ssize(rest), setup_.chunk, state_->max_append(row_)})));
    const bool last = part.size() == rest.size();
    const Logits logits = run_step(
        *loaded_.model,
        *state_,
        std::vector<RowTokens>{{row_, part, last ? 1 : 0}});
    committed_.insert(committed_.end(), part.begin(), part.end());
    cache_->grew(row_, {.tokens = committed_});
    if (last) {
      const auto all = logits.row(0);
      result.token = static_cast<int32_t>(
          std::max_element(all.begin(), all.end()) - all.begin());
    }
  }
  result.compute = seconds() - computing;
  return result;
}

Kept RestoreTrial::keep() {
  expect(state_ != nullptr, "[RestoreTrial] expected a row to keep, got none");
  Kept kept;
  kept.seconds = time_of([&] {
    cache_->put(row_, {.tokens = committed_});
    kept.durable = cache_->flush().durable;
  });
  kept.written = cache_->written();
  return kept;
}

std::vector<int32_t>
random_prompt(int64_t count, int64_t vocabulary, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t& token : tokens) {
    token = static_cast<int32_t>(random() % static_cast<uint64_t>(vocabulary));
  }
  return tokens;
}

std::vector<std::string> segment_paths(const std::string& folder) {
  std::vector<std::string> paths;
  const std::vector<std::string> names =
      posix_file_system()->list(folder).value();
  for (const std::string& name : names) {
    if (name.ends_with(".segment")) {
      paths.push_back(folder + "/" + name);
    }
  }
  return paths;
}

} // namespace holdfast::measure
