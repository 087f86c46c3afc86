// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/root_key.h"

#include <span>

#include "holdfast/base/sha256.h"

namespace holdfast {

Key128 root_key(std::string_view scope_text) {
  const Digest256 digest = sha256(scope_text);
  const auto big_endian = [&](size_t begin) {
    uint64_t value = 0;
    for (size_t i = begin; i < begin + 8; ++i) {
      value = value << 8 | static_cast<uint8_t>(digest.bytes[i]);
    }
    return value;
  };
  return {big_endian(0), big_endian(8)};
}

} // namespace holdfast
