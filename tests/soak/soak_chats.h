// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Random chats of many clients over one engine, one object cache and one disk
// tier, for as long as it is wanted. Threads: play() makes its own.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "holdfast/objects/object_cache.h"
#include "tests/soak/process_watch.h"
#include "tests/soak/soak_engine.h"

namespace holdfast::test {

struct SoakChoice {
  int64_t seconds = 6;
  int clients = 16;
  int64_t rounds = 4; // after each, everything is closed and opened again
  uint32_t seed = 1;
};

struct SoakCount {
  std::atomic<int64_t> answers{0};
  std::atomic<int64_t> compared{0};
  std::atomic<int64_t> differing{0};
  std::atomic<int64_t> asked_tokens{0};
  std::atomic<int64_t> reused_tokens{0};
  std::atomic<int64_t> objects{0};
  std::atomic<int64_t> wrong_objects{0};
  std::atomic<int64_t> kept{0}; // as records, checkpoints and files
  std::atomic<int64_t> forgotten{0};
  std::atomic<int64_t> wrong_kept{0};
};

class SoakChats {
 public:
  /// folder: where the tier makes its own.
  SoakChats(SoakChoice choice, std::string folder);
  ~SoakChats();

  /// All rounds; fails the test where something is wrong.
  void play();
  const SoakCount& count() const {
    return count_;
  }

 private:
  /// A chat at a time: longer, forked, or begun anew.
  void client(uint32_t seed);
  void use_objects(std::mt19937& random);
  /// One of: a record, a checkpoint or a file of what is known of the chat; or
  /// a record is forgotten. `number`: the client's own.
  void
  keep(const std::vector<int32_t>& chat, uint32_t number, std::mt19937& random);
  void put_record(
      PrefixCache& cache,
      const std::vector<int32_t>& chat,
      const NamedRecord& record);
  void write_file(
      PrefixCache& cache,
      const std::vector<int32_t>& chat,
      uint32_t number);
  void open();
  /// Waits for all writes, compares all sums, lets go of everything.
  void close();
  void check_sums();

  const SoakChoice choice_;
  const std::string folder_;
  std::atomic<bool> stop_{false};
  SoakCount count_;
  SoakEngine engine_;
  std::shared_ptr<DiskTier> disk_;
  std::shared_ptr<SharedRam> ram_; // of the engine's cache and of:
  std::unique_ptr<ObjectCache> objects_;
};

} // namespace holdfast::test
