// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/tree_stats.h"

namespace holdfast {

namespace {

/// "differs 2, nothing 1" of the counts behind `first`; empty where all are 0.
template <class Reason, size_t kReasons>
std::string counted(const std::array<int64_t, kReasons>& counts, size_t first) {
  std::string text;
  for (size_t i = first; i < kReasons; ++i) {
    if (counts[i] > 0) {
      text += text.empty() ? "" : ", ";
      text += std::string(name(static_cast<Reason>(i))) + " " +
          std::to_string(counts[i]);
    }
  }
  return text;
}

} // namespace

std::string TreeStats::line() const {
  std::string text = std::to_string(hits) + " of " + std::to_string(lookups) +
      " prompts knew something: " +
      std::to_string(tokens_from_ram + tokens_from_disk) + " of " +
      std::to_string(tokens_asked) + " tokens reused (" +
      std::to_string(tokens_from_disk) + " from SSD)";
  const std::string ended = counted<Why::End>(ends, 0);
  const std::string held = counted<Why::Gap>(gaps, 1); // 0: nothing
  text += ended.empty() ? "" : "; ended by: " + ended;
  text += held.empty() ? "" : "; held back by: " + held;
  if (failed_reads > 0) {
    text += "; the disk could not be read " + std::to_string(failed_reads) +
        " times";
  }
  if (given_up > 0) {
    text += "; no room for " + std::to_string(given_up) + " texts";
  }
  return text;
}

} // namespace holdfast
