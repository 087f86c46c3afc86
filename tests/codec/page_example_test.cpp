// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The worked examples of docs/codecs.md.

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "codec_support.h"

namespace holdfast {
namespace {

/// One token in slot 0 of a plane of zeros, its words by index.
class Example {
 public:
  Example(const char* codec, const std::vector<float>& x)
      : codec_(*find_codec(codec).value()),
        head_(codec_, ChannelRole::kKeys, std::ssize(x), 0) {
    codec_.encode(ChannelRole::kKeys, x, 0, head_.pointers);
  }
  uint16_t word(size_t plane, size_t index) const {
    uint16_t value;
    std::memcpy(&value, head_.bytes[plane].data() + 2 * index, 2);
    return value;
  }
  float number(size_t plane) const {
    float value;
    std::memcpy(&value, head_.bytes[plane].data(), 4);
    return value;
  }
  std::vector<float> decoded(int64_t dim) const {
    std::vector<float> y(dim);
    codec_.decode(ChannelRole::kKeys, head_.read(), 0, y);
    return y;
  }

 private:
  const Codec& codec_;
  Head head_;
};

TEST(CodecsPage, AffineExample) {
  std::vector<float> x(32);
  for (size_t d = 0; d < x.size(); ++d) {
    x[d] = static_cast<float>(d);
  }
  const Example example("q4g32", x);
  const uint16_t words[] = {0xcdef, 0x89ab, 0x4567, 0x0123};
  for (size_t line = 0; line < 4; ++line) {
    EXPECT_EQ(example.word(0, 32 * line), words[line]);
    EXPECT_EQ(example.word(0, 32 * line + 1), words[line]);
  }
  EXPECT_EQ(example.word(1, 0), 0xc004);
  EXPECT_EQ(example.word(2, 0), 0x41f8);
}

TEST(CodecsPage, TurboExample) {
  std::vector<float> x(32, 0.0f);
  x[0] = 1.0f;
  x[1] = 2.0f;
  const Example example("t4", x);
  for (size_t line = 0; line < 4; ++line) {
    EXPECT_EQ(example.word(0, 32 * line), 0x9999);
    EXPECT_EQ(example.word(0, 32 * line + 1), 0x3333);
  }
  EXPECT_EQ(std::bit_cast<uint32_t>(example.number(1)), 0x3c362866u);
  const std::vector<float> y = example.decoded(32);
  EXPECT_NEAR(y[0], 1.0377356, 1e-6);
  EXPECT_NEAR(y[1], 1.9811318, 1e-6);
  for (size_t d = 2; d < y.size(); ++d) {
    EXPECT_NEAR(y[d], 0.0f, 1e-6);
  }
}

} // namespace
} // namespace holdfast
