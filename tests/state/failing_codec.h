// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A codec that fails when it is told to. Any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "holdfast/base/check.h"
#include "holdfast/codec/codec.h"

namespace holdfast::test {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Stores f32 through the codec of that name, but throws in the calls of encode
// that it is told. No kernel reads it.
class Failing : public Codec {
 public:
  std::string name() const override {
    return "failing";
  }
  std::string id() const override {
    return "test.failing";
  }
  Status supports(ChannelRole role, int64_t head_dim) const override {
    return f32_.supports(role, head_dim);
  }
  std::vector<PlaneSpec> planes(ChannelRole role, int64_t dim) const override {
    return f32_.planes(role, dim);
  }
  void encode(
      ChannelRole role,
      std::span<const float> vector,
      int64_t slot,
      std::span<std::byte* const> planes) const override {
    const int64_t call = calls_++;
    if (call >= first_ && call < end_) {
      throw std::runtime_error("the codec failed");
    }
    f32_.encode(role, vector, slot, planes);
  }
  void decode(
      ChannelRole role,
      std::span<const std::byte* const> planes,
      int64_t slot,
      std::span<float> vector) const override {
    f32_.decode(role, planes, slot, vector);
  }

  // Counts from here on; the calls [first, end) throw.
  void fail(int64_t first, int64_t end) {
    calls_ = 0;
    first_ = first;
    end_ = end;
  }

 private:
  const Codec& f32_ = *find_codec("f32").value();
  mutable std::atomic<int64_t> calls_{0};
  std::atomic<int64_t> first_{kNever};
  std::atomic<int64_t> end_{kNever};
};

} // namespace holdfast::test
