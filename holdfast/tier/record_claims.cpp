// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/record_claims.h"

#include "holdfast/base/sha256.h"

namespace holdfast {

std::string record_claim(const RecordName& name) {
  return name.space + "/" + name.name;
}

std::string folder_claim(const RecordName& folder) {
  return record_claim(folder) + "/";
}

bool is_claimed(const RecordName& name, const std::set<std::string>& claimed) {
  if (claimed.empty()) {
    return false; // no digest is needed
  }
  const std::string key = record_claim(name);
  for (size_t end = name.space.size() + 1; end < key.size(); ++end) {
    if (key[end] == '/' &&
        claimed.contains(sha256(key.substr(0, end + 1)).hex())) {
      return true;
    }
  }
  return claimed.contains(sha256(key).hex());
}

} // namespace holdfast
