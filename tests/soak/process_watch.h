// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What this process holds of the system: mappings, descriptors, heap. Any
// thread; whoever compares must see to it that nothing else runs.

#pragma once

#include <malloc.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

namespace holdfast::test {

struct ProcessWatch {
  int64_t mappings = 0; // of all kinds
  int64_t of_folder = 0; // of these, of files below the folder
  int64_t descriptors = 0;
  int64_t heap_bytes = 0; // allocated and not freed
};

inline ProcessWatch watch_process(const std::string& folder) {
  ProcessWatch watch;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    ++watch.mappings;
    watch.of_folder += line.find(folder + "/") != std::string::npos;
  }
  watch.descriptors = std::distance(
      std::filesystem::directory_iterator("/proc/self/fd"),
      std::filesystem::directory_iterator());
  const struct mallinfo2 heap = mallinfo2();
  watch.heap_bytes = static_cast<int64_t>(heap.uordblks + heap.hblkhd);
  return watch;
}

inline std::ostream& operator<<(std::ostream& out, const ProcessWatch& watch) {
  return out << watch.mappings << " mappings, " << watch.of_folder
             << " of the folder, " << watch.descriptors << " descriptors, "
             << watch.heap_bytes << " bytes of heap";
}

} // namespace holdfast::test
