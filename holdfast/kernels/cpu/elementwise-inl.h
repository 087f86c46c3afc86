// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The formulas behind elementwise_lanes.h over a lane type, with
// make_table<V>() that gathers them. Include rules as for math-inl.h.
// Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/elementwise_lanes.h"
#include "holdfast/kernels/cpu/norm-inl.h"

namespace holdfast::cpu {
namespace {

// An angle of position * quarter_turns quarter turns is q + g with q an integer
// and |g| <= 1/2, in f64: at a position of 2^20 its error is below 1e-9. Adding
// 1.5 * 2^52 rounds to q and leaves q modulo 4 in the lowest bits.
constexpr double kRound = 0x1.8p52;

struct PlainQuadrants {
  uint32_t q[kLanes];
};

inline PlainQuadrants
reduce(double position, const double* quarter_turns, PlainF32& g) {
  PlainQuadrants r;
  for (int i = 0; i < kLanes; ++i) {
    const double t = position * quarter_turns[i];
    const double biased = t + kRound;
    g.lane[i] = static_cast<float>(t - (biased - kRound));
    r.q[i] = static_cast<uint32_t>(__builtin_bit_cast(uint64_t, biased)) & 3u;
  }
  return r;
}

/// s and c, the sine and cosine of g, become those of q + g.
inline void turn(const PlainQuadrants& quadrants, PlainF32& s, PlainF32& c) {
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t q = quadrants.q[i];
    const float sine = q & 1u ? c.lane[i] : s.lane[i];
    const float cosine = q & 1u ? s.lane[i] : c.lane[i];
    s.lane[i] = q & 2u ? -sine : sine;
    c.lane[i] = (q + 1u) & 2u ? -cosine : cosine;
  }
}

#if defined(__AVX512F__) && defined(__AVX512DQ__)

struct Avx512Quadrants {
  __m512i q;
};

inline Avx512Quadrants
reduce(double position, const double* quarter_turns, Avx512F32& g) {
  const __m512d p = _mm512_set1_pd(position);
  const __m512d round = _mm512_set1_pd(kRound);
  const __m512d t0 = _mm512_mul_pd(p, _mm512_loadu_pd(quarter_turns));
  const __m512d t1 = _mm512_mul_pd(p, _mm512_loadu_pd(quarter_turns + 8));
  const __m512d b0 = _mm512_add_pd(t0, round);
  const __m512d b1 = _mm512_add_pd(t1, round);
  const __m256 g0 =
      _mm512_maskz_cvtpd_ps(0xff, _mm512_sub_pd(t0, _mm512_sub_pd(b0, round)));
  const __m256 g1 =
      _mm512_maskz_cvtpd_ps(0xff, _mm512_sub_pd(t1, _mm512_sub_pd(b1, round)));
  const __m256i q0 = _mm512_maskz_cvtepi64_epi32(0xff, _mm512_castpd_si512(b0));
  const __m256i q1 = _mm512_maskz_cvtepi64_epi32(0xff, _mm512_castpd_si512(b1));
  g.v = _mm512_maskz_insertf32x8(
      Avx512F32::kAll,
      _mm512_maskz_broadcast_f32x8(Avx512F32::kAll, g0),
      g1,
      1);
  return {_mm512_maskz_inserti32x8(
      Avx512F32::kAll,
      _mm512_maskz_broadcast_i32x8(Avx512F32::kAll, q0),
      q1,
      1)};
}

inline void turn(const Avx512Quadrants& quadrants, Avx512F32& s, Avx512F32& c) {
  const __m512i one = _mm512_set1_epi32(1);
  const __m512i two = _mm512_set1_epi32(2);
  const __m512 negative = _mm512_set1_ps(-0.0f);
  const __m512i q = quadrants.q;
  const __mmask16 odd = _mm512_test_epi32_mask(q, one);
  const __mmask16 minus_sine = _mm512_test_epi32_mask(q, two);
  const __mmask16 minus_cosine =
      _mm512_test_epi32_mask(_mm512_add_epi32(q, one), two);
  const __m512 sine = _mm512_mask_mov_ps(s.v, odd, c.v);
  const __m512 cosine = _mm512_mask_mov_ps(c.v, odd, s.v);
  s.v = _mm512_mask_xor_ps(sine, minus_sine, sine, negative);
  c.v = _mm512_mask_xor_ps(cosine, minus_cosine, cosine, negative);
}

#endif

/// sin(g pi/2) = g p(g^2), cos(g pi/2) = 1 + g^2 r(g^2), |g| <= 1/2; minimax,
/// errors 3.3e-9 and 5.4e-11 before rounding.
template <class V>
inline void angles(
    double position,
    const double* quarter_turns,
    int64_t count,
    float* cos,
    float* sin) {
  for (int64_t i = 0; i < count; i += kLanes) {
    V g;
    const auto quadrants = reduce(position, quarter_turns + i, g);
    const V z = g * g;
    V s = V::set(-0x1.2d9278p-8f);
    s = V::fma(s, z, V::set(0x1.465e9p-4f));
    s = V::fma(s, z, V::set(-0x1.4abbb8p-1f));
    s = V::fma(s, z, V::set(0x1.921fb6p+0f));
    s = s * g;
    V c = V::set(0x1.d9f6ecp-11f);
    c = V::fma(c, z, V::set(-0x1.55c662p-6f));
    c = V::fma(c, z, V::set(0x1.03c1dep-2f));
    c = V::fma(c, z, V::set(-0x1.3bd3ccp+0f));
    c = V::fma(c, z, V::set(1.0f));
    turn(quadrants, s, c);
    s.store(sin + i);
    c.store(cos + i);
  }
}

/// Values [i, i + n) of a head, normalised.
template <class V>
inline V head_values(
    const float* x,
    const HeadShape& shape,
    V scale,
    int64_t i,
    int64_t n) {
  const V v = n == kLanes ? V::load(x + i) : V::load_n(x + i, n);
  if (shape.weight == nullptr) {
    return v;
  }
  const V w =
      n == kLanes ? V::load(shape.weight + i) : V::load_n(shape.weight + i, n);
  return v * scale * w;
}

template <class V>
inline void head(const float* x, const HeadShape& shape, float* y) {
  const V scale = V::set(
      shape.weight != nullptr ? rms_scale<V>(x, shape.dim, shape.eps) : 1.0f);
  const int64_t half = shape.half;
  for (int64_t i = 0; i < half; i += kLanes) {
    const int64_t n = half - i < kLanes ? half - i : kLanes;
    const V a = head_values(x, shape, scale, i, n);
    const V b = head_values(x, shape, scale, i + half, n);
    const V c = V::load_n(shape.cos + i, n);
    const V s = V::load_n(shape.sin + i, n);
    (a * c - b * s).store_n(y + i, n);
    (b * c + a * s).store_n(y + i + half, n);
  }
  for (int64_t i = 2 * half; i < shape.dim; i += kLanes) {
    const int64_t n = shape.dim - i < kLanes ? shape.dim - i : kLanes;
    head_values(x, shape, scale, i, n).store_n(y + i, n);
  }
}

template <class V, class F>
inline void each(const float* x, int64_t count, float* y, F f) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t n = count - i < kLanes ? count - i : kLanes;
    f(V::load_n(x + i, n)).store_n(y + i, n);
  }
}

template <class V>
inline void
map(LaneFunction function, const float* x, int64_t count, float* y) {
  switch (function) {
    case LaneFunction::kExp:
      return each<V>(x, count, y, [](V v) { return cpu::exp(v); });
    case LaneFunction::kExpNonpositive:
      return each<V>(x, count, y, [](V v) { return exp_nonpositive(v); });
    case LaneFunction::kTanh:
      return each<V>(x, count, y, [](V v) { return cpu::tanh(v); });
    case LaneFunction::kSigmoid:
      return each<V>(x, count, y, [](V v) { return sigmoid(v); });
    case LaneFunction::kSilu:
      return each<V>(x, count, y, [](V v) { return silu(v); });
    case LaneFunction::kGelu:
      return each<V>(x, count, y, [](V v) { return gelu_tanh(v); });
  }
}

template <class V>
constexpr LaneTable make_table() {
  return {rms_norm_row<V>, head<V>, angles<V>, map<V>};
}

} // namespace
} // namespace holdfast::cpu
