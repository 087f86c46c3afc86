// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Elementary functions over 16 f32 lanes, each written once as a formula over a
// lane type V and giving the same bits for PlainF32 and Avx512F32 (NaN for NaN,
// whatever its payload). Include it in a kernel's .cpp file alone: all is in an
// anonymous namespace, so that code for one instruction set stays in its file.
//
// Invariants: rounding to nearest, no contraction. Errors at most: exp 1 ulp,
// tanh 2, sigmoid and silu 4; gelu_tanh 16 above -3 and 1e-7 absolute below,
// where the argument of its exponential is inexact. Stateless; any thread.

#pragma once

#include <cstdint>

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
#endif

namespace holdfast::cpu {
namespace {

constexpr int kLanes = 16;

/// Lanes in standard C++. min and max return b where either is NaN.
struct PlainF32 {
  float lane[kLanes];

  template <class F>
  static PlainF32 each(F f) {
    PlainF32 r;
    for (int i = 0; i < kLanes; ++i) {
      r.lane[i] = f(i);
    }
    return r;
  }
  static PlainF32 set(float x) {
    return each([&](int) { return x; });
  }
  static PlainF32 load(const float* p) {
    return each([&](int i) { return p[i]; });
  }
  /// The first n in [0, 16]; the other lanes are zero.
  static PlainF32 load_n(const float* p, int64_t n) {
    return each([&](int i) { return i < n ? p[i] : 0.0f; });
  }
  void store(float* p) const {
    for (int i = 0; i < kLanes; ++i) {
      p[i] = lane[i];
    }
  }
  void store_n(float* p, int64_t n) const {
    for (int i = 0; i < n; ++i) {
      p[i] = lane[i];
    }
  }
  friend PlainF32 operator+(const PlainF32& a, const PlainF32& b) {
    return each([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  friend PlainF32 operator-(const PlainF32& a, const PlainF32& b) {
    return each([&](int i) { return a.lane[i] - b.lane[i]; });
  }
  friend PlainF32 operator*(const PlainF32& a, const PlainF32& b) {
    return each([&](int i) { return a.lane[i] * b.lane[i]; });
  }
  friend PlainF32 operator/(const PlainF32& a, const PlainF32& b) {
    return each([&](int i) { return a.lane[i] / b.lane[i]; });
  }
  /// a * b + c, rounded once.
  static PlainF32 fma(const PlainF32& a, const PlainF32& b, const PlainF32& c) {
    return each(
        [&](int i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
  }
  static PlainF32 min(const PlainF32& a, const PlainF32& b) {
    return each(
        [&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static PlainF32 max(const PlainF32& a, const PlainF32& b) {
    return each(
        [&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static PlainF32 abs(const PlainF32& a) {
    return each([&](int i) { return __builtin_fabsf(a.lane[i]); });
  }
  static PlainF32 copy_sign(const PlainF32& a, const PlainF32& sign) {
    return each(
        [&](int i) { return __builtin_copysignf(a.lane[i], sign.lane[i]); });
  }
  /// x < bound ? a : b; b where x is NaN.
  static PlainF32 if_less(
      const PlainF32& x,
      const PlainF32& bound,
      const PlainF32& a,
      const PlainF32& b) {
    return each([&](int i) {
      return x.lane[i] < bound.lane[i] ? a.lane[i] : b.lane[i];
    });
  }
  /// 2^k for k in [-126, 127], given as 1.5 * 2^23 + k.
  static PlainF32 power_of_two(const PlainF32& biased) {
    return each([&](int i) {
      const auto bits = __builtin_bit_cast(uint32_t, biased.lane[i]);
      return __builtin_bit_cast(float, (bits << 23) + 0x3f800000u);
    });
  }
  /// Lanes folded as i + (i + 8), then 4, 2, 1 apart.
  float sum() const {
    PlainF32 s = *this;
    for (int apart = kLanes / 2; apart > 0; apart /= 2) {
      for (int i = 0; i < apart; ++i) {
        s.lane[i] += s.lane[i + apart];
      }
    }
    return s.lane[0];
  }
};

#if defined(__AVX512F__) && defined(__AVX512DQ__)

/// The same in one register. Zeroing forms with all lanes on stand where the
/// plain intrinsic trips g++ 12's -Wuninitialized; the code is the same.
struct Avx512F32 {
  static constexpr __mmask16 kAll = 0xffff;
  __m512 v;

  static __mmask16 first(int64_t n) {
    return static_cast<__mmask16>((1u << n) - 1u);
  }
  static Avx512F32 set(float x) {
    return {_mm512_set1_ps(x)};
  }
  static Avx512F32 load(const float* p) {
    return {_mm512_loadu_ps(p)};
  }
  static Avx512F32 load_n(const float* p, int64_t n) {
    return {_mm512_maskz_loadu_ps(first(n), p)};
  }
  void store(float* p) const {
    _mm512_storeu_ps(p, v);
  }
  void store_n(float* p, int64_t n) const {
    _mm512_mask_storeu_ps(p, first(n), v);
  }
  friend Avx512F32 operator+(Avx512F32 a, Avx512F32 b) {
    return {_mm512_add_ps(a.v, b.v)};
  }
  friend Avx512F32 operator-(Avx512F32 a, Avx512F32 b) {
    return {_mm512_sub_ps(a.v, b.v)};
  }
  friend Avx512F32 operator*(Avx512F32 a, Avx512F32 b) {
    return {_mm512_mul_ps(a.v, b.v)};
  }
  friend Avx512F32 operator/(Avx512F32 a, Avx512F32 b) {
    return {_mm512_div_ps(a.v, b.v)};
  }
  static Avx512F32 fma(Avx512F32 a, Avx512F32 b, Avx512F32 c) {
    return {_mm512_fmadd_ps(a.v, b.v, c.v)};
  }
  static Avx512F32 min(Avx512F32 a, Avx512F32 b) {
    return {_mm512_maskz_min_ps(kAll, a.v, b.v)};
  }
  static Avx512F32 max(Avx512F32 a, Avx512F32 b) {
    return {_mm512_maskz_max_ps(kAll, a.v, b.v)};
  }
  static Avx512F32 abs(Avx512F32 a) {
    return {_mm512_andnot_ps(_mm512_set1_ps(-0.0f), a.v)};
  }
  static Avx512F32 copy_sign(Avx512F32 a, Avx512F32 sign) {
    const __m512 bit = _mm512_set1_ps(-0.0f);
    return {
        _mm512_or_ps(_mm512_andnot_ps(bit, a.v), _mm512_and_ps(bit, sign.v))};
  }
  static Avx512F32
  if_less(Avx512F32 x, Avx512F32 bound, Avx512F32 a, Avx512F32 b) {
    const __mmask16 less = _mm512_cmp_ps_mask(x.v, bound.v, _CMP_LT_OQ);
    return {_mm512_mask_mov_ps(b.v, less, a.v)};
  }
  static Avx512F32 power_of_two(Avx512F32 biased) {
    const __m512i bits =
        _mm512_maskz_slli_epi32(kAll, _mm512_castps_si512(biased.v), 23);
    return {_mm512_castsi512_ps(
        _mm512_add_epi32(bits, _mm512_set1_epi32(0x3f800000)))};
  }
  float sum() const {
    const __m256 s8 = _mm256_add_ps(
        _mm512_maskz_extractf32x8_ps(0xff, v, 0),
        _mm512_maskz_extractf32x8_ps(0xff, v, 1));
    const __m128 s4 =
        _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
    const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
  }
};

#endif

/// e^x = significand * 2^k, with k given as power_of_two takes it.
template <class V>
struct ExpParts {
  V significand; // in [0.70, 1.42]
  V biased;
};

/// x = k ln2 + r, |r| <= ln2 / 2; e^r = 1 + r + r^2 q(r) with q of degree 4,
/// minimax, relative error 3.1e-9. Garbage where |x| > 2^21 or not finite.
template <class V>
inline ExpParts<V> exp_parts(V x) {
  const V shift = V::set(0x1.8p23f); // adding it leaves k in the low bits
  const V biased = V::fma(x, V::set(0x1.715476p+0f), shift); // log2(e)
  const V k = biased - shift;
  V r = V::fma(k, V::set(-0x1.62e43p-1f), x); // -ln2 in two parts
  r = V::fma(k, V::set(0x1.05c61p-29f), r);
  V q = V::set(0x1.6a2256p-10f);
  q = V::fma(q, r, V::set(0x1.123b02p-7f));
  q = V::fma(q, r, V::set(0x1.5558f8p-5f));
  q = V::fma(q, r, V::set(0x1.55549p-3f));
  q = V::fma(q, r, V::set(0x1.fffffcp-2f));
  q = V::fma(q, r, V::set(1.0f));
  q = V::fma(q, r, V::set(1.0f));
  return {q, biased};
}

/// Where x is below this, exp(x) is zero: e^-87.33 is just above the least
/// normal number, so no result is subnormal.
constexpr float kExpFloor = -87.33f;

/// exp(x) for x <= 0 (and right up to 87); 0 below kExpFloor and for -inf; NaN
/// stays NaN.
template <class V>
inline V exp_nonpositive(V x) {
  const ExpParts<V> parts = exp_parts(x);
  const V y = parts.significand * V::power_of_two(parts.biased);
  return V::if_less(x, V::set(kExpFloor), V::set(0.0f), y);
}

/// exp(x) for any x; 0 below kExpFloor, infinity above 88.72; NaN stays NaN.
template <class V>
inline V exp(V x) {
  x = V::min(V::set(89.0f), x);
  const ExpParts<V> parts = exp_parts(x);
  // k reaches 128, whose power is no f32: 2^64 of it is multiplied in apart.
  const V bound = V::set(80.0f);
  const V taken = V::if_less(bound, x, V::set(64.0f), V::set(0.0f));
  const V rest = V::if_less(bound, x, V::set(0x1p64f), V::set(1.0f));
  const V y = parts.significand * V::power_of_two(parts.biased - taken) * rest;
  return V::if_less(x, V::set(kExpFloor), V::set(0.0f), y);
}

/// tanh(x). Below 0.625: x + x z p(z) with z = x^2 and p of degree 4, minimax,
/// relative error 4.4e-9; else (1 - e) / (1 + e) with e = exp(-2 |x|).
template <class V>
inline V tanh(V x) {
  const V one = V::set(1.0f);
  const V a = V::abs(x);
  const V z = x * x;
  V p = V::set(-0x1.75e1cep-8f);
  p = V::fma(p, z, V::set(0x1.52269cp-6f));
  p = V::fma(p, z, V::set(-0x1.b83c5ap-5f));
  p = V::fma(p, z, V::set(0x1.110726p-3f));
  p = V::fma(p, z, V::set(-0x1.555532p-2f));
  const V small = V::fma(x * z, p, x);
  const V e = exp_nonpositive(a * V::set(-2.0f));
  const V large = (one - e) / (one + e);
  return V::copy_sign(V::if_less(a, V::set(0.625f), small, large), x);
}

/// 1 / (1 + exp(-x)), as e / (1 + e) below zero: relative accuracy to the
/// floor, no overflow.
template <class V>
inline V sigmoid(V x) {
  const V one = V::set(1.0f);
  const V e = exp_nonpositive(V::set(0.0f) - V::abs(x));
  const V numerator = V::if_less(x, V::set(0.0f), e, one);
  return numerator / (one + e);
}

/// x * sigmoid(x); -0 below kExpFloor and for -inf.
template <class V>
inline V silu(V x) {
  x = V::max(V::set(-100.0f), x); // keeps -inf * 0 away
  return x * sigmoid(x);
}

/// x / 2 * (1 + tanh(u)) = x * sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715
/// x^3); -0 below about -10 and for -inf.
template <class V>
inline V gelu_tanh(V x) {
  x = V::max(V::set(-100.0f), x);
  const V slope =
      V::fma(x * x, V::set(0.0713548162726009f), V::set(1.5957691216057308f));
  return x * sigmoid(x * slope);
}

/// Zero for what is no normal number of f32, and for zero of either sign.
template <class V>
inline V flushed(const V& x) {
  return V::if_less(V::abs(x), V::set(0x1p-126f), V::set(0.0f), x);
}

} // namespace
} // namespace holdfast::cpu
