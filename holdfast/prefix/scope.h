// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Everything besides tokens that decides the bits of stored state, and who may
// see it: the signature's fields, the adapter's digest, the tenant. State of
// one scope is found under an equal one and no other.
//
// The canonical text is compared and stored; SHA-256 of it gives the key of the
// scope's root. A tenant's salt is kept as its digest alone and never printed.
// Immutable value; any thread.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "holdfast/base/key_hash.h"
#include "holdfast/base/status.h"
#include "holdfast/state/signature.h"

namespace holdfast {

class Scope {
 public:
  /// adapter: SHA-256 of its content, "" for none. tenant_salt: any bytes, ""
  /// for none.
  explicit Scope(
      Signature signature,
      std::string adapter = {},
      std::string_view tenant_salt = {});
  /// The scope of a stored text; kCorrupt where it is none.
  static Result<Scope> parse(std::string_view text);

  /// "holdfast scope 1\n", then the adapter, the tenant's digest, and name and
  /// value of each field in order, each as its length in decimal, ":", bytes,
  /// "\n".
  const std::string& text() const {
    return text_;
  }
  /// The first 16 bytes of the text's SHA-256, big endian.
  Key128 root() const {
    return root_;
  }
  const Signature& signature() const {
    return signature_;
  }
  /// The same adapter and tenant under another signature.
  Scope with(Signature signature) const;
  /// True where neither can learn of the other from what a lookup says.
  bool of_other_tenant(const Scope& other) const {
    return tenant_ != other.tenant_;
  }
  /// The first thing in which `got` differs: "layer 3 storage: expected q8, got
  /// q4". Nothing where they are equal.
  std::optional<std::string> difference(const Scope& got) const;
  bool operator==(const Scope& other) const {
    return text_ == other.text_;
  }

 private:
  Scope() = default;
  void write_text();

  Signature signature_;
  std::string adapter_;
  std::string tenant_; // SHA-256 of the salt, "" for none
  std::string text_;
  Key128 root_;
};

} // namespace holdfast
