// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Writes a model folder again with its matrices quantised as MLX quantises them
// (mlx_quantization.h): to be loaded by holdfast and by mlx-lm. Values are
// mlx::core::quantize's own. Nothing is there under the folder's name before
// all of it is on disk. Threads: an engine thread.

#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "holdfast/engine/mlx_quantization.h"
#include "holdfast/env/file_system.h"

namespace holdfast {

struct PackJob {
  std::string model; // a folder
  std::string out; // must not exist; its parent must
  MlxQuantized kind;
  std::function<void(Bytes done, Bytes total)> progress = {};
  const std::atomic<bool>* interrupted = nullptr;
};

struct PackReport {
  int64_t tensors = 0; // of the model
  int64_t quantized = 0; // of those
  int64_t files = 0; // of tensors
  Bytes source;
  Bytes written;
};

/// Throws Error naming the file: kInvalidArgument where `out` exists or the
/// model is quantised already, kStale where it was interrupted, and what
/// reading and writing gives. What was begun is removed then.
PackReport pack_model(FileSystem& files, const PackJob& job);

} // namespace holdfast
