// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The way from a loaded model to the first token of a prompt, over a folder
// that may know the prompt. One for each process: what it holds is what a
// process holds. Threads: the engine thread.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "holdfast/engine/load.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/tier/disk_tier.h"

namespace holdfast::measure {

struct RestoreSetup {
  StateChoice state; // with a digest of the weights, or anything in its place
  std::string folder; // of a tier; its parent exists
  int64_t chunk = 512;
};

/// Seconds of each part.
struct FirstToken {
  double open = 0; // the state, the folder, its index
  double begin = 0; // a row with what is known
  double compute = 0; // the rest of the prompt, and the choice
  int32_t token = -1;
  Position reused;
  Position from_disk;
  Bytes state; // images of the row as it began

  double seconds() const {
    return open + begin + compute;
  }
  /// Bytes of images a second that a row's begin made available.
  double begin_rate() const {
    return begin > 0 ? static_cast<double>(state.get()) / begin : 0;
  }
};

struct Kept {
  double seconds = 0;
  Bytes written; // of segments
  bool durable = false;
};

class RestoreTrial {
 public:
  /// `loaded` outlives this.
  RestoreTrial(const LoadedModel& loaded, const RestoreSetup& setup);

  /// Once. progress(done, total): tokens of the prompt; what it throws ends the
  /// call.
  FirstToken first_token(
      std::span<const int32_t> prompt,
      const std::function<void(int64_t, int64_t)>& progress = nullptr);
  /// Puts the row into the folder, and waits until it is there.
  Kept keep();

 private:
  const LoadedModel& loaded_;
  const RestoreSetup setup_;
  std::unique_ptr<State> state_;
  std::unique_ptr<PrefixCache> cache_; // of that state
  std::vector<int32_t> committed_;
  RowId row_;
};

/// Tokens that no file of texts has: random ones of the vocabulary.
std::vector<int32_t>
random_prompt(int64_t count, int64_t vocabulary, uint64_t seed);

/// The cache of a state over the folder.
std::unique_ptr<PrefixCache> open_cache(State& state, std::string folder);

/// Paths of the segments in a tier's folder.
std::vector<std::string> segment_paths(const std::string& folder);

} // namespace holdfast::measure
