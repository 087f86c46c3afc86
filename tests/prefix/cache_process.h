// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// For tests of the prefix cache: a process, with its state and its cache, over
// a folder in memory or none; texts whose vectors follow from their tokens.
// One thread.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/prefix/prefix_cache.h"
#include "tests/state/layers.h"

namespace holdfast::test {

inline constexpr int64_t kLength = 300;

/// Token i of a text is its position, or beyond `fork` another.
inline std::vector<int32_t> text_tokens(int64_t count, int64_t fork = kLength) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  for (int64_t i = fork; i < count; ++i) {
    tokens[static_cast<size_t>(i)] += 5000;
  }
  return tokens;
}

inline StateOptions with_codecs(const char* first, int64_t start = 0) {
  StateOptions result = options(first);
  if (start > 0) {
    const Codec* later = find_codec("q4").value();
    result.precision.phases.push_back(
        {.keys = later, .values = later, .start = Position(start)});
  }
  return result;
}

/// A process: its state and its cache, over a folder or none.
class Process {
 public:
  explicit Process(
      const StateOptions& options,
      std::shared_ptr<FileSystem> files = nullptr,
      Bytes ram = Bytes(int64_t{1} << 30),
      const std::string& folder = "/state",
      const std::string& adapter = "")
      : state_(options) {
    PrefixCacheOptions with;
    with.ram = ram;
    with.adapter = adapter;
    open(std::move(with), std::move(files), folder);
  }
  /// Within a budget that others share.
  Process(
      const StateOptions& options,
      std::shared_ptr<FileSystem> files,
      std::shared_ptr<SharedRam> ram)
      : state_(options) {
    PrefixCacheOptions with;
    with.shared_ram = std::move(ram);
    open(std::move(with), std::move(files), "/state");
  }

  struct Run {
    Position reused;
    std::vector<float> outputs; // of the tokens that were computed
    Why why;
  };
  /// Computes what of the text is not known, in chunks; keeps it, as a record
  /// where one is given.
  Run run(
      const std::vector<int32_t>& tokens,
      const Sequence& vectors,
      const NamedRecord* record = nullptr) {
    const Begun begun = cache_->begin({tokens});
    Run result{begun.reused, {}, begun.why};
    const auto size = std::ssize(tokens);
    while (state_.length(begun.row) < Position(size)) {
      const int64_t done = state_.length(begun.row).get();
      const int64_t count =
          std::min({int64_t{90}, size - done, state_.max_append(begun.row)});
      const auto out = append_to(state_, begun.row, {&vectors, done, count});
      result.outputs.insert(result.outputs.end(), out.begin(), out.end());
      cache_->grew(
          begun.row,
          {std::span(tokens).first(static_cast<size_t>(done + count))});
    }
    if (record) {
      cache_->put(begun.row, {tokens}, *record);
    } else {
      cache_->put(begun.row, {tokens});
    }
    state_.remove_row(begun.row);
    return result;
  }
  PrefixCache& cache() {
    return *cache_;
  }
  State& state() {
    return state_;
  }

 private:
  void open(
      PrefixCacheOptions with,
      std::shared_ptr<FileSystem> files,
      const std::string& folder) {
    if (files) {
      with.disk = DiskTier::open({.folder = folder,
                                  .files = std::move(files),
                                  .clock = std::make_shared<ManualClock>()})
                      .value();
    }
    cache_ = std::make_unique<PrefixCache>(state_, std::move(with));
  }

  State state_;
  std::unique_ptr<PrefixCache> cache_;
};

inline std::vector<float> last(const std::vector<float>& all, size_t count) {
  return {all.end() - static_cast<int64_t>(count), all.end()};
}

inline std::shared_ptr<MemoryFileSystem> disk() {
  return MemoryFileSystem::make();
}

} // namespace holdfast::test
