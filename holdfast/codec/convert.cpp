// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/convert.h"

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
  std::vector<float> vector(conversion.head_dim);
  for (int64_t slot = 0; slot < conversion.slots; ++slot) {
    from.decode(conversion.role, conversion.from, slot, vector);
    to.encode(conversion.role, vector, slot, conversion.to);
  }
}

} // namespace holdfast
