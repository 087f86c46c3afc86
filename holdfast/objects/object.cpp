// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/objects/object.h"

namespace holdfast {

size_t ObjectKeyHash::operator()(const ObjectKey& key) const {
  const std::hash<std::string> hash;
  // 2^64 over the golden ratio: the same text as space and as key differ.
  return hash(key.space) * 0x9e3779b97f4a7c15u + hash(key.key);
}

} // namespace holdfast
