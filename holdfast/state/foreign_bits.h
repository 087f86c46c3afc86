// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// State that means the same as ours but was computed elsewhere: by another
// engine, or by this one on another kernel path. A field of the signature keeps
// each such origin apart, so that its bits never meet those of a cold run here.
// Values; any thread.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "holdfast/base/strong.h"
#include "holdfast/state/signature.h"

namespace holdfast {

inline constexpr std::string_view kForeignField = "foreign bits";

struct ForeignBits {
  std::string origin; // SHA-256 of what it was read from, hex
  /// No shorter prefix of it is whole; 0: any is.
  Position least = {};

  /// The field's value: "<origin>, whole from <least>".
  std::string text() const;
  /// Nothing for what text() does not give.
  static std::optional<ForeignBits> parse(std::string_view text);
  bool operator==(const ForeignBits&) const = default;
};

/// What the signature says of itself; nothing where its bits are ours.
std::optional<ForeignBits> foreign_bits(const Signature& signature);

/// The signature of a state whose identity ends with that field instead of any
/// other of its kind. Nothing: without one.
Signature with_foreign_bits(
    const Signature& signature,
    const std::optional<ForeignBits>& foreign);

/// True for fields that decide how bits are computed and not what they mean:
/// kernels, numerics, a layer's read, and kForeignField.
bool decides_bits_alone(std::string_view field);

} // namespace holdfast
