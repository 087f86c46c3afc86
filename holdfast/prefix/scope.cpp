// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/scope.h"

#include <charconv>
#include <span>
#include <utility>
#include <vector>

#include "holdfast/base/hex.h"
#include "holdfast/base/root_key.h"
#include "holdfast/base/sha256.h"

namespace holdfast {

namespace {

constexpr std::string_view kHead = "holdfast scope 1\n";

std::string digest_of(std::string_view bytes) {
  const Digest256 digest = sha256(bytes);
  return {
      reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

void put(std::string& text, std::string_view part) {
  text += std::to_string(part.size()) + ":";
  text += part;
  text += '\n';
}

/// Takes the next part off `rest`; false where there is none of that form.
bool take(std::string_view& rest, std::string& part) {
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > 18) {
    return false;
  }
  size_t size = 0;
  const char* end = rest.data() + colon;
  if (std::from_chars(rest.data(), end, size).ptr != end ||
      (rest[0] == '0' && colon > 1)) {
    return false;
  }
  rest.remove_prefix(colon + 1);
  if (rest.size() <= size || rest[size] != '\n') {
    return false;
  }
  part = rest.substr(0, size);
  rest.remove_prefix(size + 1);
  return true;
}

} // namespace

Scope::Scope(
    Signature signature,
    std::string adapter,
    std::string_view tenant_salt)
    : signature_(std::move(signature)),
      adapter_(std::move(adapter)),
      tenant_(tenant_salt.empty() ? std::string() : digest_of(tenant_salt)) {
  write_text();
}

void Scope::write_text() {
  text_ = kHead;
  put(text_, adapter_);
  put(text_, tenant_);
  for (const Signature::Field& field : signature_.fields()) {
    put(text_, field.name);
    put(text_, field.value);
  }
  root_ = root_key(text_);
}

Result<Scope> Scope::parse(std::string_view text) {
  const Status bad(
      ErrorCode::kCorrupt,
      "[scope] expected the text of a scope, got other bytes");
  if (!text.starts_with(kHead)) {
    return bad;
  }
  std::string_view rest = text.substr(kHead.size());
  Scope scope;
  if (!take(rest, scope.adapter_) || !take(rest, scope.tenant_) ||
      (!scope.tenant_.empty() && scope.tenant_.size() != 32)) {
    return bad;
  }
  std::vector<Signature::Field> fields;
  while (!rest.empty()) {
    Signature::Field& field = fields.emplace_back();
    if (!take(rest, field.name) || !take(rest, field.value)) {
      return bad;
    }
  }
  scope.signature_ = Signature(std::move(fields));
  scope.write_text();
  return scope;
}

Scope Scope::with(Signature signature) const {
  Scope other = *this;
  other.signature_ = std::move(signature);
  other.write_text();
  return other;
}

std::optional<std::string> Scope::difference(const Scope& got) const {
  if (tenant_ != got.tenant_) {
    return "tenant: expected this one, got another";
  }
  if (const auto field = signature_.difference(got.signature_)) {
    return field;
  }
  if (adapter_ != got.adapter_) {
    const auto name = [](const std::string& digest) {
      return digest.empty() ? "none" : to_hex(std::as_bytes(std::span(digest)));
    };
    return "adapter: expected " + name(adapter_) + ", got " +
        name(got.adapter_);
  }
  return std::nullopt;
}

} // namespace holdfast
