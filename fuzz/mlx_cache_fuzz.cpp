// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Reads arbitrary bytes as a prompt cache of mlx-lm, down to the floats of its
// layers.

#include <cstdlib>
#include <span>

#include "holdfast/env/memory_file_system.h"
#include "holdfast/formats/mlx_cache.h"

namespace {

using namespace holdfast;

Status read_all(FileSystem& files) {
  const auto file = SafetensorsFile::open(files, "/file");
  if (!file.ok()) {
    return file.status();
  }
  const auto cache = read_mlx_cache(*file.value());
  if (!cache.ok()) {
    return cache.status();
  }
  for (const MlxLayerCache& layer : cache.value().layers) {
    if (layer.kind == MlxLayerCache::Kind::kArrays) {
      continue;
    }
    if (std::ssize(layer.slots()) > layer.room()) {
      std::abort();
    }
    for (const bool values : {false, true}) {
      const auto floats = read_mlx_channel(*file.value(), layer, values);
      if (floats.ok() &&
          std::ssize(floats.value()) !=
              layer.heads() * layer.room() * layer.dim(values)) {
        std::abort();
      }
    }
  }
  return {};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto files = MemoryFileSystem::make();
  if (size > 0) {
    files->create("/file")
        .value()
        ->write(Bytes(0), std::as_bytes(std::span(data, size)))
        .check();
  }
  const Status status = read_all(*files);
  // A complaint is one line.
  if (status.text().find('\n') != std::string::npos ||
      status.text().size() > 800) {
    std::abort();
  }
  return 0;
}
