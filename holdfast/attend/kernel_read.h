// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the reads by kernels of ours share: one primitive a layer, whose task
// works on plain memory while its step is open. A read says what the task is.
//
// Threads: as Read; a task runs on the stream's thread. Stateless, and living
// as long as the process.

#pragma once

#include <functional>
#include <vector>

#include "holdfast/attend/read.h"

namespace holdfast {

/// The arrays of one layer in one step; k and v are null over a donor.
struct LayerArrays {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  float* out = nullptr;
};

class KernelRead : public Read {
 public:
  bool replays() const final {
    return true;
  }
  mlx::core::array attend(
      const std::shared_ptr<const LayerRead>& layer,
      const cpu::StepHandle& step,
      const Qkv& inputs,
      mlx::core::Stream stream) const final;
  mlx::core::array attend_donor(
      const std::shared_ptr<const LayerRead>& layer,
      const cpu::StepHandle& step,
      const Queries& inputs,
      mlx::core::Stream stream) const final;

  /// What MLX prints of the primitive.
  virtual const char* primitive_name() const = 0;
  /// Appends where there are keys and values, then attends. Layer, run and
  /// arrays outlive the task. Made on the engine thread.
  virtual std::function<void()> task(
      const LayerRead& layer,
      StepRun& run,
      const LayerArrays& arrays) const = 0;

 private:
  mlx::core::array make(
      const std::shared_ptr<const LayerRead>& layer,
      const cpu::StepHandle& step,
      std::vector<mlx::core::array> inputs,
      mlx::core::Stream stream) const;
};

} // namespace holdfast
