// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/record.h"

#include <xxhash.h>

namespace holdfast {

bool RecordKey::operator==(const RecordKey& other) const {
  return space == other.space && name == other.name &&
      (tokens == other.tokens || *tokens == *other.tokens);
}

size_t RecordKeyHash::operator()(const RecordKey& key) const {
  const XXH64_hash_t of_space = XXH3_64bits(key.space.data(), key.space.size());
  const XXH64_hash_t of_name =
      XXH3_64bits_withSeed(key.name.data(), key.name.size(), of_space);
  return XXH3_64bits_withSeed(
      key.tokens->data(), key.tokens->size() * sizeof(int32_t), of_name);
}

} // namespace holdfast
