// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/signature.h"

#include <algorithm>

namespace holdfast {

std::optional<std::string> Signature::difference(const Signature& other) const {
  const auto [mine, theirs] = std::mismatch(
      fields_.begin(),
      fields_.end(),
      other.fields_.begin(),
      other.fields_.end());
  const bool have = mine != fields_.end();
  const bool given = theirs != other.fields_.end();
  if (!have && !given) {
    return std::nullopt;
  }
  if (have && given && mine->name == theirs->name) {
    return mine->name + ": expected " + mine->value + ", got " + theirs->value;
  }
  return have ? mine->name + ": expected " + mine->value + ", got no such field"
              : theirs->name + ": expected no such field, got " + theirs->value;
}

} // namespace holdfast
