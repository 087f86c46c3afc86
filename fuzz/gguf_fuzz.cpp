// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Parses arbitrary bytes as a GGUF file and reads all that the result offers.

#include <cstdlib>

#include "holdfast/formats/gguf.h"
#include "tests/formats/gguf_touch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const auto file = holdfast::GgufFile::parse({bytes, size}, "fuzz.gguf");
  if (file.ok()) {
    holdfast::test::touch(file.value());
    return 0;
  }
  // A complaint is one line.
  const std::string text = file.status().text();
  if (text.find('\n') != text.npos || text.size() > 500) {
    std::abort();
  }
  return 0;
}
