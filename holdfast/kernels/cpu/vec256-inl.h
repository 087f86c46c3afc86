// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Vectors of 256 bits: one register of AVX2 or two of NEON, each operation
// written once with Google Highway (hn::), which compiles to the instruction of
// either. Include it in a *_vec256.cpp file alone: all is in an anonymous
// namespace, so that code for one instruction set stays in its file.
//
// Invariants: arithmetic rounds to nearest even and is never contracted;
// operations within 128 bits (interleave, look_up) treat both halves alike.
// Stateless; any thread.

#pragma once

#include <cstdint>
#include <utility>

#if defined(__x86_64__)
#include "holdfast/kernels/cpu/intrinsics.h"
#endif

// Highway as the flags of this file say: one target, chosen by us at run time,
// without what it can find out and without what must be linked.
#define HWY_COMPILE_ONLY_STATIC
#define HWY_DISABLE_PCLMUL_AES
#define HWY_IS_DEBUG_BUILD 0
#define TOOLCHAIN_MISS_SYS_AUXV_H
#include <hwy/highway.h>

namespace holdfast::cpu {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

static_assert(HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON);

/// Registers of a vector, and lanes of T in each.
inline constexpr int kParts = 32 / HWY_MAX_BYTES;
template <class T>
inline constexpr int kPartLanes = HWY_MAX_BYTES / static_cast<int>(sizeof(T));
/// Highway's name for one register of T.
template <class T>
using Part = hn::ScalableTag<T>;

template <class T>
struct Vec256 {
  hn::Vec<Part<T>> part[kParts];
};

/// part(i) for every register.
template <class T, class F>
[[gnu::always_inline]] inline Vec256<T> each_part(const F& part) {
  if constexpr (kParts == 1) {
    return {{part(0)}};
  } else {
    return {{part(0), part(1)}};
  }
}
/// f of the registers of `v`, one after the other.
template <class F, class... V>
[[gnu::always_inline]] inline auto by_part(const F& f, const V&... v) {
  using T = hn::TFromV<decltype(f(v.part[0]...))>;
  return each_part<T>([&](int i) __attribute__((always_inline)) {
    return f(v.part[i]...);
  });
}
/// Calls f.operator()<i>() for i below kCount.
template <int kCount, class F>
[[gnu::always_inline]] inline void unrolled(const F& f) {
  [&]<int... i>(std::integer_sequence<int, i...>)
      __attribute__((always_inline)) {
    (f.template operator()<i>(), ...);
  }
  (std::make_integer_sequence<int, kCount>());
}

template <class T>
inline Vec256<T> all(T x) {
  return each_part<T>([&](int) { return hn::Set(Part<T>(), x); });
}
template <class T>
inline Vec256<T> load(const T* p) {
  return each_part<T>(
      [&](int i) { return hn::LoadU(Part<T>(), p + i * kPartLanes<T>); });
}
template <class T>
inline void store(const Vec256<T>& v, T* p) {
  for (int i = 0; i < kParts; ++i) {
    hn::StoreU(v.part[i], Part<T>(), p + i * kPartLanes<T>);
  }
}
/// The same bits as other lanes.
template <class To, class T>
inline Vec256<To> cast(const Vec256<T>& v) {
  return by_part([](auto x) { return hn::BitCast(Part<To>(), x); }, v);
}

template <class T>
[[gnu::always_inline]] inline Vec256<T>
operator+(const Vec256<T>& a, const Vec256<T>& b) {
  return by_part([](auto x, auto y) { return hn::Add(x, y); }, a, b);
}
template <class T>
[[gnu::always_inline]] inline Vec256<T>
operator-(const Vec256<T>& a, const Vec256<T>& b) {
  return by_part([](auto x, auto y) { return hn::Sub(x, y); }, a, b);
}
[[gnu::always_inline]] inline Vec256<float>
operator*(const Vec256<float>& a, const Vec256<float>& b) {
  return by_part([](auto x, auto y) { return hn::Mul(x, y); }, a, b);
}
[[gnu::always_inline]] inline Vec256<float>
operator/(const Vec256<float>& a, const Vec256<float>& b) {
  return by_part([](auto x, auto y) { return hn::Div(x, y); }, a, b);
}
template <class T>
[[gnu::always_inline]] inline Vec256<T>
operator&(const Vec256<T>& a, const Vec256<T>& b) {
  return by_part([](auto x, auto y) { return hn::And(x, y); }, a, b);
}
template <class T>
[[gnu::always_inline]] inline Vec256<T>
operator|(const Vec256<T>& a, const Vec256<T>& b) {
  return by_part([](auto x, auto y) { return hn::Or(x, y); }, a, b);
}
/// mask ? a : b, bit by bit.
template <class T>
inline Vec256<T>
mix(const Vec256<T>& mask, const Vec256<T>& a, const Vec256<T>& b) {
  return by_part(
      [](auto m, auto x, auto y) {
        return hn::Or(hn::And(m, x), hn::AndNot(m, y));
      },
      mask,
      a,
      b);
}
template <int kBits, class T>
inline Vec256<T> shift_left(const Vec256<T>& v) {
  return by_part([](auto x) { return hn::ShiftLeft<kBits>(x); }, v);
}
/// Fills with zeros, or with the sign of a signed T.
template <int kBits, class T>
inline Vec256<T> shift_right(const Vec256<T>& v) {
  if constexpr (kBits == 0) {
    return v;
  } else {
    return by_part([](auto x) { return hn::ShiftRight<kBits>(x); }, v);
  }
}

/// a * b + c, rounded once.
inline Vec256<float>
fused(const Vec256<float>& a, const Vec256<float>& b, const Vec256<float>& c) {
  return by_part(
      [](auto x, auto y, auto z) { return hn::MulAdd(x, y, z); }, a, b, c);
}
inline Vec256<float> to_float(const Vec256<int32_t>& v) {
  return by_part([](auto x) { return hn::ConvertTo(Part<float>(), x); }, v);
}

/// Within each 128 bits: a0 b0 a1 b1 … of the lower, or the upper, lanes.
template <class T>
inline Vec256<T> interleave_lower(const Vec256<T>& a, const Vec256<T>& b) {
  return by_part(
      [](auto x, auto y) { return hn::InterleaveLower(Part<T>(), x, y); },
      a,
      b);
}
template <class T>
inline Vec256<T> interleave_upper(const Vec256<T>& a, const Vec256<T>& b) {
  return by_part(
      [](auto x, auto y) { return hn::InterleaveUpper(Part<T>(), x, y); },
      a,
      b);
}

/// 128 bits of a vector, as Highway has them.
template <int kUpper, class T>
inline auto half(const Vec256<T>& v) {
  if constexpr (kParts == 2) {
    return v.part[kUpper];
  } else if constexpr (kUpper == 0) {
    return hn::LowerHalf(hn::Full128<T>(), v.part[0]);
  } else {
    return hn::UpperHalf(hn::Full128<T>(), v.part[0]);
  }
}
template <int kUpper, class T>
inline void store_half(const Vec256<T>& v, T* p) {
  hn::StoreU(half<kUpper>(v), hn::Full128<T>(), p);
}
/// 16 bytes of a vector as 16-bit lanes.
template <int kUpper>
inline Vec256<uint16_t> widened_half(const Vec256<uint8_t>& v) {
  constexpr Part<uint16_t> wide;
  const auto bytes = half<kUpper>(v);
  if constexpr (kParts == 1) {
    return {{hn::PromoteTo(wide, bytes)}};
  } else {
    constexpr hn::Rebind<uint8_t, Part<uint16_t>> eight;
    return {
        {hn::PromoteTo(wide, hn::LowerHalf(eight, bytes)),
         hn::PromoteTo(wide, hn::UpperHalf(eight, bytes))}};
  }
}

/// The lanes of 8, folded 4, 2, 1 apart: lane i with lane i + 4, and so on.
template <class F>
inline float folded(const Vec256<float>& v, const F& f) {
  const auto four = f(half<0>(v), half<1>(v));
  const auto two = f(four, hn::Shuffle1032(four));
  return hn::GetLane(f(two, hn::Shuffle2301(two)));
}

/// a > b ? a : b, so b where either is NaN; and the same with <.
struct Larger {
  template <class P>
  P operator()(P a, P b) const {
    if constexpr (HWY_TARGET == HWY_AVX2) {
      return hn::Max(a, b);
    } else {
      return hn::IfThenElse(hn::Gt(a, b), a, b);
    }
  }
};
struct Smaller {
  template <class P>
  P operator()(P a, P b) const {
    if constexpr (HWY_TARGET == HWY_AVX2) {
      return hn::Min(a, b);
    } else {
      return hn::IfThenElse(hn::Lt(a, b), a, b);
    }
  }
};

/// 8 fp16 or bf16 numbers as f32.
inline Vec256<float> from_f16(const void* from) {
  return each_part<float>([&](int i) {
    constexpr hn::Rebind<uint16_t, Part<float>> bits;
    constexpr hn::Rebind<hwy::float16_t, Part<float>> halves;
    const auto* p = static_cast<const uint16_t*>(from) + i * kPartLanes<float>;
    return hn::PromoteTo(
        Part<float>(), hn::BitCast(halves, hn::LoadU(bits, p)));
  });
}
inline Vec256<float> from_bf16(const void* from) {
  return each_part<float>([&](int i) {
    constexpr hn::Rebind<uint16_t, Part<float>> bits;
    const auto* p = static_cast<const uint16_t*>(from) + i * kPartLanes<float>;
    const auto wide = hn::PromoteTo(Part<uint32_t>(), hn::LoadU(bits, p));
    return hn::BitCast(Part<float>(), hn::ShiftLeft<16>(wide));
  });
}

} // namespace
} // namespace holdfast::cpu
