// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Everything that decides whether stored bits mean the same and go on alike: an
// ordered list of named fields. State of one signature may be used under an
// equal one and no other. Immutable value; any thread.

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// Of what docs/numerics.md says; raised when a path gives other bits.
inline constexpr int kNumericsVersion = 1;

class Signature {
 public:
  struct Field {
    std::string name; // "layer 3 storage"
    std::string value;
    bool operator==(const Field&) const = default;
  };

  Signature() = default;
  explicit Signature(std::vector<Field> fields) : fields_(std::move(fields)) {}

  const std::vector<Field>& fields() const {
    return fields_;
  }
  /// The first field that differs, as "name: expected value, got value"; a
  /// field that one side lacks counts as differing. Nothing where both are
  /// equal.
  std::optional<std::string> difference(const Signature& other) const;
  bool operator==(const Signature&) const = default;

 private:
  std::vector<Field> fields_;
};

} // namespace holdfast
