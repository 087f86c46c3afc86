// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "state_end.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "failure.h"
#include "state_folder.h"

namespace holdfast::app {

namespace {

/// False where writers are still at work.
bool flush_state(PrefixCache& cache) {
  const Clock::Moment until = cache.clock().now() + kFlushPatience;
  const FlushReport report = cache.flush({.until = until, .last = true});
  if (Continuations* const checkpoints = cache.continuations()) {
    checkpoints->flush(until); // of finished texts they are removed
  }
  if (!report.durable && report.pending + report.failed + report.dropped > 0) {
    std::fprintf(
        stderr,
        "holdfast: not all state was saved: %s\n",
        report.text().c_str());
  }
  if (const int64_t texts = cache.stats().given_up; texts > 0) {
    std::fprintf(
        stderr,
        "holdfast: %lld times a text found no room in memory and was not kept "
        "whole (--max-cache-bytes)\n",
        static_cast<long long>(texts));
  }
  return cache.pending().pending_writes == 0 &&
      (cache.continuations() == nullptr ||
       cache.continuations()->stats().pending == 0);
}

} // namespace

int with_state_kept(PrefixCache* cache, const std::function<int()>& body) {
  int code = 0;
  std::exception_ptr failure;
  try {
    code = body();
  } catch (...) {
    failure = std::current_exception();
  }
  if (cache != nullptr && !flush_state(*cache)) {
    code = failure ? told(failure) : code;
    std::fflush(nullptr);
    std::_Exit(code);
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
  return code;
}

} // namespace holdfast::app
