// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Parses arbitrary bytes as a segment and compares all that the result offers
// with its checksums. The first byte says whether the checksums of header and
// directory are made right first: a fuzzer cannot guess them.

#include <cstdlib>
#include <vector>

#include "tests/tier/segment_support.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace holdfast;
  if (size < 1) {
    return 0;
  }
  const auto* input = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(input + 1, input + size);
  if ((data[0] & 1) != 0 && bytes.size() >= size_t{kSegmentPage}) {
    test::seal(bytes);
  }
  const Status status = test::read_all(bytes);
  // A complaint is one line.
  if (status.text().find('\n') != std::string::npos ||
      status.text().size() > 500) {
    std::abort();
  }
  return 0;
}
