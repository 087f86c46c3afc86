// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Reads arbitrary bytes as a stored tensor: what is taken is written again to
// the same bytes. The first byte says whether the header's checksum is made
// right first: a fuzzer cannot guess it.

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "holdfast/base/checksum.h"
#include "holdfast/objects/tensor_format.h"
#include "holdfast/tier/little_endian.h"

namespace {

constexpr size_t kHeaderBytesAt = 10;
constexpr size_t kChecksumAt = 24;

void seal(std::vector<std::byte>& bytes) {
  using namespace holdfast;
  const size_t size = load_le<uint16_t>(bytes, kHeaderBytesAt);
  store_le<uint64_t>(bytes, kChecksumAt, 0);
  store_le<uint64_t>(
      bytes,
      kChecksumAt,
      checksum(std::span(bytes).first(std::min(size, bytes.size()))));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace holdfast;
  if (size < 1) {
    return 0;
  }
  const auto* input = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(input + 1, input + size);
  if ((data[0] & 1) != 0 && bytes.size() >= size_t{kTensorAlignment}) {
    seal(bytes);
  }
  const Result<StoredTensor> read = read_tensor(bytes);
  if (!read.ok()) {
    return 0;
  }
  const TensorFacts& facts = read.value().facts;
  if (stored_bytes(facts) != Bytes(std::ssize(bytes))) {
    std::abort();
  }
  std::vector<std::byte> again(bytes.size());
  std::ranges::copy(
      read.value().elements, write_tensor_header(facts, again).begin());
  if (again != bytes) {
    std::abort();
  }
  return 0;
}
