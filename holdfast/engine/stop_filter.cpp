// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/stop_filter.h"

#include <algorithm>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/formats/utf8.h"

namespace holdfast {

StopFilter::StopFilter(std::vector<std::string> stops)
    : stops_(std::move(stops)) {
  for (const std::string& stop : stops_) {
    expect(!stop.empty(), "[stop] expected a string, got an empty one");
    expect(is_utf8(stop), "[stop] expected UTF-8, got other bytes");
  }
  // The first match at an end is then the longest.
  std::stable_sort(
      stops_.begin(), stops_.end(), [](const auto& a, const auto& b) {
        return a.size() > b.size();
      });
}

std::string StopFilter::push(std::string_view text) {
  if (stopped_) {
    return {};
  }
  const size_t known = held_.size(); // no stop string ends before here
  held_ += text;
  const std::string_view all = held_;
  for (size_t end = known + 1; end <= all.size(); ++end) {
    for (const std::string& stop : stops_) {
      if (all.substr(0, end).ends_with(stop)) {
        stopped_ = true;
        std::string certain = held_.substr(0, end - stop.size());
        held_.clear();
        return certain;
      }
    }
  }
  size_t keep = 0; // bytes at the end that begin a stop string
  for (const std::string& stop : stops_) {
    for (size_t n = std::min(stop.size() - 1, all.size()); n > keep; --n) {
      if (all.ends_with(std::string_view(stop).substr(0, n))) {
        keep = n;
      }
    }
  }
  std::string certain = held_.substr(0, held_.size() - keep);
  held_.erase(0, certain.size());
  return certain;
}

std::string StopFilter::flush() {
  return std::exchange(held_, {});
}

} // namespace holdfast
