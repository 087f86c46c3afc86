// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/signature.h"

#include <algorithm>

namespace holdfast {

namespace {

using Fields = std::vector<Signature::Field>;

const Signature::Field* find(const Fields& in, const std::string& name) {
  const auto found = std::ranges::find(in, name, &Signature::Field::name);
  return found == in.end() ? nullptr : &*found;
}

} // namespace

std::optional<std::string> Signature::difference(const Signature& other) const {
  if (*this == other) {
    return std::nullopt;
  }
  for (const Field& mine : fields_) {
    const Field* theirs = find(other.fields_, mine.name);
    if (!theirs || theirs->value != mine.value) {
      return mine.name + ": expected " + mine.value + ", got " +
          (theirs ? theirs->value : "no such field");
    }
  }
  for (const Field& theirs : other.fields_) {
    if (!find(fields_, theirs.name)) {
      return theirs.name + ": expected no such field, got " + theirs.value;
    }
  }
  return "expected the same fields in the same order, got another order";
}

} // namespace holdfast
