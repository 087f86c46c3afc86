// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The bytes that the codecs write for a fixed sequence of vectors, against
// tests/golden/codecs.txt. A difference means that stored blocks would be read
// wrongly: a codec that writes other bytes needs another id.

#include <gtest/gtest.h>

#include <fstream>
#include <iomanip>
#include <sstream>

#include "codec_support.h"

namespace holdfast {
namespace {

constexpr int64_t kDims[] = {64, 80, 128, 256};

/// Element d of token t: a sum of four 16-bit numbers, exact and about normal.
float golden_element(int64_t t, int64_t d) {
  uint64_t z = (static_cast<uint64_t>(t * 512 + d) + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  const auto sum = static_cast<int64_t>(
      (z & 0xffffu) + (z >> 16 & 0xffffu) + (z >> 32 & 0xffffu) + (z >> 48));
  return static_cast<float>(sum - 131070) * 0x1p-15f;
}

uint64_t fnv1a(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3u;
  }
  return hash;
}

/// One line a plane: codec, head size, role, plane, FNV-1a of all bytes, the
/// first eight bytes.
void describe(
    const Codec& codec,
    int64_t dim,
    ChannelRole role,
    std::ostream& out) {
  Head head(codec, role, dim, 0);
  std::vector<float> vector(dim);
  for (int64_t t = 0; t < kBlockTokens; ++t) {
    for (int64_t d = 0; d < dim; ++d) {
      vector[d] = golden_element(t, d);
    }
    codec.encode(role, vector, t, head.pointers);
  }
  const std::vector<PlaneSpec> planes = codec.planes(role, dim);
  for (size_t p = 0; p < planes.size(); ++p) {
    out << codec.id() << " " << dim
        << (role == ChannelRole::kKeys ? " keys " : " values ")
        << planes[p].name << " " << std::hex << std::setfill('0')
        << std::setw(16) << fnv1a(head.bytes[p]) << " ";
    for (size_t i = 0; i < 8; ++i) {
      out << std::setw(2) << std::to_integer<int>(head.bytes[p][i]);
    }
    out << std::dec << "\n";
  }
}

TEST(GoldenBytes, AreThoseOfTheFile) {
  std::ostringstream got;
  for (const Codec* codec : all_codecs()) {
    for (const int64_t dim : kDims) {
      if (codec->name() == "extra" ||
          !codec->supports(ChannelRole::kKeys, dim).ok()) {
        continue;
      }
      for (const ChannelRole role : kRoles) {
        describe(*codec, dim, role, got);
      }
    }
  }
  std::ifstream file(HOLDFAST_TEST_DATA "/../golden/codecs.txt");
  std::ostringstream expected;
  expected << file.rdbuf();
  if (got.str() != expected.str()) {
    const std::string path = ::testing::TempDir() + "codecs.txt";
    std::ofstream(path) << got.str();
    ADD_FAILURE() << "what was written now is in " << path;
  }
}

} // namespace
} // namespace holdfast
