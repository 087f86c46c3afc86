// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/convert.h"

#include <algorithm>
#include <string>
#include <vector>

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

void expect_planes(
    const Codec& codec,
    const Conversion& conversion,
    size_t given) {
  codec.supports(conversion.role, conversion.head_dim).check();
  const size_t wanted =
      codec.planes(conversion.role, conversion.head_dim).size();
  if (given != wanted) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[convert_slots] expected planes of " + codec.name() + ": " +
            std::to_string(wanted) + ", got " + std::to_string(given));
  }
}

} // namespace

void convert_slots(
    const Codec& from,
    const Codec& to,
    const Conversion& conversion) {
  expect_planes(from, conversion, conversion.from.size());
  expect_planes(to, conversion, conversion.to.size());
  expect(
      conversion.slots >= 0 && conversion.slots <= kBlockTokens,
      "[convert_slots] expected at most kBlockTokens slots, got other");
  // As many at a time as stay in the first cache.
  constexpr int64_t at_once = 16;
  const int64_t dim = conversion.head_dim;
  std::vector<float> vectors(std::min(conversion.slots, at_once) * dim);
  for (int64_t slot = 0; slot < conversion.slots; slot += at_once) {
    const int64_t count = std::min(conversion.slots - slot, at_once);
    from.decode_run(
        conversion.role,
        conversion.from,
        slot,
        dim,
        std::span(vectors).first(count * dim));
    to.encode_run(
        conversion.role,
        {vectors.data(), dim, count, dim},
        slot,
        conversion.to);
  }
}

} // namespace holdfast
