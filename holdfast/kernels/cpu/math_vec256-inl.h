// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The 16 lanes of math-inl.h in two vectors of 256 bits. Same bits as the other
// lanes. Include it in a *_vec256.cpp file alone.

#pragma once

#include <cstdint>

#include "holdfast/kernels/cpu/math-inl.h"
#include "holdfast/kernels/cpu/vec256-inl.h"

namespace holdfast::cpu {
namespace {

struct Vec256F32 {
  Vec256<float> low; // lanes 0 to 7
  Vec256<float> high;

  static Vec256F32 set(float x) {
    return {all(x), all(x)};
  }
  static Vec256F32 load(const float* p) {
    return {cpu::load(p), cpu::load(p + 8)};
  }
  /// Touches no memory beyond the n values.
  static Vec256F32 load_n(const float* p, int64_t n) {
    if constexpr (kParts == 1) {
      return {first(p, n), first(p + 8, n - 8)};
    } else {
      if (n == kLanes) {
        return load(p);
      }
      alignas(64) float lanes[kLanes] = {};
      for (int64_t i = 0; i < n; ++i) {
        lanes[i] = p[i];
      }
      return load(lanes);
    }
  }
  void store(float* p) const {
    cpu::store(low, p);
    cpu::store(high, p + 8);
  }
  void store_n(float* p, int64_t n) const {
    if constexpr (kParts == 1) {
      put_first(low, p, n);
      put_first(high, p + 8, n - 8);
    } else {
      if (n == kLanes) {
        return store(p);
      }
      alignas(64) float lanes[kLanes];
      store(lanes);
      for (int64_t i = 0; i < n; ++i) {
        p[i] = lanes[i];
      }
    }
  }
  friend Vec256F32 operator+(const Vec256F32& a, const Vec256F32& b) {
    return {a.low + b.low, a.high + b.high};
  }
  friend Vec256F32 operator-(const Vec256F32& a, const Vec256F32& b) {
    return {a.low - b.low, a.high - b.high};
  }
  friend Vec256F32 operator*(const Vec256F32& a, const Vec256F32& b) {
    return {a.low * b.low, a.high * b.high};
  }
  friend Vec256F32 operator/(const Vec256F32& a, const Vec256F32& b) {
    return {a.low / b.low, a.high / b.high};
  }
  static Vec256F32
  fma(const Vec256F32& a, const Vec256F32& b, const Vec256F32& c) {
    return {fused(a.low, b.low, c.low), fused(a.high, b.high, c.high)};
  }
  static Vec256F32 min(const Vec256F32& a, const Vec256F32& b) {
    return both(Smaller(), a, b);
  }
  static Vec256F32 max(const Vec256F32& a, const Vec256F32& b) {
    return both(Larger(), a, b);
  }
  static Vec256F32 abs(const Vec256F32& a) {
    return both([](auto x) { return hn::Abs(x); }, a);
  }
  static Vec256F32 copy_sign(const Vec256F32& a, const Vec256F32& sign) {
    return both([](auto x, auto s) { return hn::CopySign(x, s); }, a, sign);
  }
  static Vec256F32 if_less(
      const Vec256F32& x,
      const Vec256F32& bound,
      const Vec256F32& a,
      const Vec256F32& b) {
    return both(
        [](auto value, auto limit, auto yes, auto no) {
          return hn::IfThenElse(hn::Lt(value, limit), yes, no);
        },
        x,
        bound,
        a,
        b);
  }
  static Vec256F32 power_of_two(const Vec256F32& biased) {
    const auto one = [](const Vec256<float>& x) {
      return cast<float>(
          shift_left<23>(cast<uint32_t>(x)) + all<uint32_t>(0x3f800000));
    };
    return {one(biased.low), one(biased.high)};
  }
  float sum() const {
    return folded(low + high, [](auto a, auto b) { return hn::Add(a, b); });
  }

 private:
  template <class F, class... V>
  static Vec256F32 both(const F& f, const V&... v) {
    return {by_part(f, v.low...), by_part(f, v.high...)};
  }
  static size_t clamped(int64_t n) {
    return static_cast<size_t>(n < 0 ? 0 : n > 8 ? 8 : n);
  }
  /// The first n of 8 lanes; n may lie outside [0, 8].
  static Vec256<float> first(const float* p, int64_t n) {
    constexpr Part<float> d;
    return {{hn::MaskedLoad(hn::FirstN(d, clamped(n)), d, p)}};
  }
  static void put_first(const Vec256<float>& v, float* p, int64_t n) {
    constexpr Part<float> d;
    hn::BlendedStore(v.part[0], hn::FirstN(d, clamped(n)), d, p);
  }
};

} // namespace
} // namespace holdfast::cpu
