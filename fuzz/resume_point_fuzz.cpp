// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Decodes arbitrary bytes as a point where a generation goes on: what is
// accepted must be what its value encodes to. The first byte says whether the
// checksum is made right first: a fuzzer cannot guess it.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "holdfast/base/checksum.h"
#include "holdfast/formats/resume_point.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace holdfast;
  if (size < 1) {
    return 0;
  }
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((data[0] & 1) != 0 && bytes.size() >= sizeof(uint64_t)) {
    const size_t end = bytes.size() - sizeof(uint64_t);
    const uint64_t sum = checksum(std::string_view(bytes).substr(0, end));
    std::memcpy(bytes.data() + end, &sum, sizeof sum);
  }
  const Result<ResumePoint> point = decode_resume_point(bytes);
  if (point.ok()) {
    if (encode(point.value()) != bytes) {
      std::abort();
    }
  } else if (
      point.status().text().find('\n') != std::string::npos ||
      point.status().text().size() > 500) {
    std::abort();
  }
  return 0;
}
