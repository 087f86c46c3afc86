// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/map_images.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

namespace holdfast {

namespace {

/// What one thread more is worth: some 0.1 ms to start it, against a few GB/s.
constexpr int64_t kBytesEach = int64_t{2} << 20;

class Mapping {
 public:
  Mapping(DiskTier& disk, std::span<const Extent> extents)
      : disk_(disk),
        extents_(extents),
        mapped_(extents.size(), Status(ErrorCode::kNotFound, "not mapped")) {}

  /// Takes extents, one by one in their order, until there are none.
  void work() {
    while (!failed_) { // asked first: what is taken is mapped
      const size_t at = next_++;
      if (at >= extents_.size()) {
        return;
      }
      mapped_[at] = disk_.map(extents_[at]);
      if (!mapped_[at].ok()) {
        failed_ = true;
      }
    }
  }
  std::vector<Result<MappedImage>> take() {
    return std::move(mapped_);
  }

 private:
  DiskTier& disk_;
  const std::span<const Extent> extents_;
  std::vector<Result<MappedImage>> mapped_; // [extent], each by one thread
  std::atomic<size_t> next_{0};
  std::atomic<bool> failed_{false};
};

} // namespace

std::vector<Result<MappedImage>>
map_images(DiskTier& disk, std::span<const Extent> extents, int threads) {
  int64_t bytes = 0;
  for (const Extent& extent : extents) {
    bytes += extent.bytes.get();
  }
  const int64_t most = std::min<int64_t>(threads, 1 + bytes / kBytesEach);
  Mapping mapping(disk, extents);
  {
    std::vector<std::jthread> others;
    try {
      for (int64_t i = 1; i < most; ++i) {
        others.emplace_back([&mapping] { mapping.work(); });
      }
    } catch (const std::system_error&) { // no thread to be had: with fewer
    }
    mapping.work();
  }
  return mapping.take();
}

} // namespace holdfast
