// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/elementwise-inl.h"
#include "holdfast/kernels/cpu/math_vec256-inl.h"

namespace holdfast::cpu {

namespace {

// Quadrants by the plain loops, which the compiler turns into vectors: they run
// once a token and angle.

inline PlainQuadrants
reduce(double position, const double* quarter_turns, Vec256F32& g) {
  PlainF32 lanes;
  const PlainQuadrants quadrants = reduce(position, quarter_turns, lanes);
  g = Vec256F32::load(lanes.lane);
  return quadrants;
}

inline void turn(const PlainQuadrants& quadrants, Vec256F32& s, Vec256F32& c) {
  PlainF32 sine;
  PlainF32 cosine;
  s.store(sine.lane);
  c.store(cosine.lane);
  turn(quadrants, sine, cosine);
  s = Vec256F32::load(sine.lane);
  c = Vec256F32::load(cosine.lane);
}

} // namespace

const LaneTable& vec256_lanes() {
  static constexpr LaneTable table = make_table<Vec256F32>();
  return table;
}

} // namespace holdfast::cpu
