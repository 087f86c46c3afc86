// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A tiny random model behind one engine thread, which any number of clients
// feed: a State belongs to the thread that built it, so clients wait for their
// answers. What is put into the cache goes to a disk tier in the background.
//
// Invariant: answers are those of a cold run; samples are compared.
// Threads: any, but for what says otherwise.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "holdfast/models/model.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/state/state.h"

namespace holdfast::test {

struct SoakRequest {
  std::vector<int32_t> tokens;
  int64_t more = 0; // tokens to generate
  bool compare = false; // with a cold run
};

struct SoakAnswer {
  std::vector<int32_t> tokens = {}; // generated
  int64_t reused = 0; // of the prompt
  bool same = true; // as a cold run, where that was asked for
};

class SoakEngine {
 public:
  SoakEngine();
  ~SoakEngine();

  /// Opens a cache over the disk, or closes it: null. Waits.
  void set_disk(std::shared_ptr<DiskTier> disk, std::shared_ptr<SharedRam> ram);
  SoakAnswer answer(SoakRequest request);
  /// Runs on the engine thread, between batches; waits. The cache is null while
  /// none is open.
  void run(const std::function<void(State&, PrefixCache*)>& work);

 private:
  struct Waiting {
    SoakRequest request;
    std::promise<SoakAnswer> answer;
  };
  struct Model; // on the engine thread

  void work();
  /// Answers several at once: their rows share steps.
  static void serve(Model& model, std::vector<Waiting>& batch);

  std::mutex mutex_; // for the next four
  std::condition_variable wake_;
  std::deque<Waiting> waiting_;
  std::deque<std::packaged_task<void(Model&)>> tasks_;
  bool stop_ = false;
  std::thread thread_; // last
};

} // namespace holdfast::test
