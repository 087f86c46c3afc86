// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Waiting for a stream. Private to state/. Engine thread only.

#pragma once

#include <exception>

#include "mlx/stream.h"
#include "mlx/transforms.h"

namespace holdfast {

/// Waits for the tasks of the stream and drops what they failed with. MLX keeps
/// one failure until the stream is used again, by whichever step; each step
/// keeps its own (StepRun).
inline void drain(mlx::core::Stream stream) noexcept {
  constexpr int kMostFailures = 1 << 16; // more than a step has tasks
  for (int failures = 0; failures < kMostFailures; ++failures) {
    try {
      mlx::core::synchronize(stream);
      return;
    } catch (const std::exception&) {
      continue; // there may be one a task
    }
  }
}

} // namespace holdfast
