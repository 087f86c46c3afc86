// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/foreign_bits.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "holdfast/base/sha256.h"

namespace holdfast {

namespace {

constexpr std::string_view kFrom = ", whole from ";
// The first field that is not of the identity.
constexpr std::string_view kBehindIdentity = "block tokens";

} // namespace

std::string ForeignBits::text() const {
  return origin + std::string(kFrom) + std::to_string(least.get());
}

std::optional<ForeignBits> ForeignBits::parse(std::string_view text) {
  const size_t at = text.find(kFrom);
  if (at == std::string_view::npos ||
      !Digest256::from_hex(text.substr(0, at))) {
    return std::nullopt;
  }
  int64_t least = 0;
  const char* begin = text.data() + at + kFrom.size();
  const char* end = text.data() + text.size();
  if (std::from_chars(begin, end, least).ptr != end || least < 0) {
    return std::nullopt;
  }
  ForeignBits result{std::string(text.substr(0, at)), Position(least)};
  return result.text() == text ? std::optional(std::move(result))
                               : std::nullopt;
}

std::optional<ForeignBits> foreign_bits(const Signature& signature) {
  for (const Signature::Field& field : signature.fields()) {
    if (field.name == kForeignField) {
      return ForeignBits::parse(field.value);
    }
  }
  return std::nullopt;
}

Signature with_foreign_bits(
    const Signature& signature,
    const std::optional<ForeignBits>& foreign) {
  std::vector<Signature::Field> fields = signature.fields();
  std::erase_if(fields, [](const auto& f) { return f.name == kForeignField; });
  if (foreign) {
    fields.insert(
        std::ranges::find(fields, kBehindIdentity, &Signature::Field::name),
        {std::string(kForeignField), foreign->text()});
  }
  return Signature(std::move(fields));
}

bool decides_bits_alone(std::string_view field) {
  return field == "kernels" || field == "numerics" || field == kForeignField ||
      (field.starts_with("layer ") && field.ends_with(" read"));
}

} // namespace holdfast
