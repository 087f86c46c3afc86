// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/sha256.h"

#include <openssl/evp.h>

#include "holdfast/base/check.h"
#include "holdfast/base/hex.h"

namespace holdfast {

std::string Digest256::hex() const {
  return to_hex(bytes);
}

std::optional<Digest256> Digest256::from_hex(std::string_view text) {
  Digest256 digest;
  if (!holdfast::from_hex(text, digest.bytes)) {
    return std::nullopt;
  }
  return digest;
}

void Sha256::Free::operator()(evp_md_ctx_st* state) const {
  EVP_MD_CTX_free(state);
}

Sha256::Sha256() : state_(EVP_MD_CTX_new()) {
  ensure(
      state_ != nullptr &&
          EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr) == 1,
      "[Sha256] expected libcrypto to give SHA-256, got none");
}

Sha256::~Sha256() = default;

Sha256& Sha256::add(std::span<const std::byte> bytes) {
  ensure(
      EVP_DigestUpdate(state_.get(), bytes.data(), bytes.size()) == 1,
      "[Sha256] expected bytes to be added, got an error of libcrypto");
  return *this;
}

Digest256 Sha256::finish() {
  Digest256 digest;
  const bool done = EVP_DigestFinal_ex(
                        state_.get(),
                        reinterpret_cast<unsigned char*>(digest.bytes.data()),
                        nullptr) == 1 &&
      EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr) == 1;
  ensure(done, "[Sha256] expected a digest, got an error of libcrypto");
  return digest;
}

Digest256 sha256(std::span<const std::byte> bytes) {
  return Sha256().add(bytes).finish();
}

Digest256 sha256(std::string_view text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

} // namespace holdfast
