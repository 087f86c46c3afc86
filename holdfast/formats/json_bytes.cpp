// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/json_bytes.h"

#include <string>

namespace holdfast {

void require_no_nul(
    std::string_view bytes,
    std::string_view where,
    ErrorCode code) {
  if (const size_t nul = bytes.find('\0'); nul != bytes.npos) {
    throw Error(
        code,
        std::string(where) + ": expected JSON, got a NUL at byte " +
            std::to_string(nul));
  }
}

void read_json(
    std::string_view bytes,
    std::string_view where,
    nlohmann::json_sax<nlohmann::json>& events) {
  require_no_nul(bytes, where);
  nlohmann::json::sax_parse(bytes, &events);
}

} // namespace holdfast
