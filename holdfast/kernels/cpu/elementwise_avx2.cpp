// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/elementwise-inl.h"
#include "holdfast/kernels/cpu/math_avx2-inl.h"

namespace holdfast::cpu {

namespace {

// Quadrants by the plain loops, which the compiler turns into AVX2's: they run
// once a token and angle.

inline PlainQuadrants
reduce(double position, const double* quarter_turns, Avx2F32& g) {
  PlainF32 lanes;
  const PlainQuadrants quadrants = reduce(position, quarter_turns, lanes);
  g = Avx2F32::load(lanes.lane);
  return quadrants;
}

inline void turn(const PlainQuadrants& quadrants, Avx2F32& s, Avx2F32& c) {
  PlainF32 sine;
  PlainF32 cosine;
  s.store(sine.lane);
  c.store(cosine.lane);
  turn(quadrants, sine, cosine);
  s = Avx2F32::load(sine.lane);
  c = Avx2F32::load(cosine.lane);
}

} // namespace

const LaneTable& avx2_lanes() {
  static constexpr LaneTable table = make_table<Avx2F32>();
  return table;
}

} // namespace holdfast::cpu
