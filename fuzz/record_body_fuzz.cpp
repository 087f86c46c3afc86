// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Parses arbitrary bytes as a record's body: what is taken is written again as
// the same bytes.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "holdfast/tier/record_body.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace holdfast;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto body = RecordBody::parse(bytes);
  if (body.ok() && body.value().encode() != bytes) {
    std::abort();
  }
  return 0;
}
