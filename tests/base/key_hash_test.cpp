// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/key_hash.h"

#include <cstring>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/base/checksum.h"

namespace holdfast {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<int32_t> squares(int count) {
  std::vector<int32_t> tokens;
  for (int i = 0; i < count; ++i) {
    tokens.push_back(i * i);
  }
  return tokens;
}

TEST(KeyHash, IsXxh3Of128Bits) {
  EXPECT_EQ(key_of({}).hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(key_of(bytes_of("abc")).hex(), "06b05ab6733a618578af5f94892f3950");
}

TEST(KeyHash, GivesTheKeysThatStoredStateWasFiledUnder) {
  EXPECT_EQ(chained_key({}, {}).hex(), "10e45c7ce2292320743df94ee4c78a2a");
  EXPECT_EQ(
      chained_key(
          {0x0123456789abcdefu, 0xfedcba9876543210u},
          std::vector<int32_t>{1, 2, 3})
          .hex(),
      "a0545f9d12d2f1851e88d70084dc6a88");
  EXPECT_EQ(
      chained_key(
          {},
          std::vector<int32_t>{-1, std::numeric_limits<int32_t>::max()},
          "m")
          .hex(),
      "b6f40bd52937dda823aa73fe119e0ddf");
  EXPECT_EQ(
      chained_key({1, 2}, squares(64)).hex(),
      "0e5b1a4673e09ad4808c5d01ed7930d7");
}

TEST(KeyHash, HashesRunsOfAnyLengthByTheSameRule) {
  // Short runs without marks go another way than the rest.
  for (const int count : {0, 1, 63, 64, 65, 1000}) {
    for (const std::string& marks : {std::string(), std::string("image 3")}) {
      const auto tokens = squares(count);
      const uint64_t head[3] = {2, 1, static_cast<uint64_t>(count)};
      std::string text(reinterpret_cast<const char*>(head), sizeof(head));
      if (count > 0) {
        text.append(
            reinterpret_cast<const char*>(tokens.data()), 4 * tokens.size());
      }
      text += marks;
      EXPECT_EQ(chained_key({1, 2}, tokens, marks), key_of(bytes_of(text)))
          << count << marks;
    }
  }
}

TEST(KeyHash, DependsOnParentTokensAndMarksEachAlone) {
  const std::vector<int32_t> tokens{1, 2, 3};
  std::set<Key128> keys{
      chained_key({1, 2}, tokens),
      chained_key({2, 1}, tokens),
      chained_key({1, 3}, tokens),
      chained_key({1, 2}, std::vector<int32_t>{1, 2}),
      chained_key({1, 2}, std::vector<int32_t>{1, 2, 4}),
      chained_key({1, 2}, std::vector<int32_t>{1, 2, 3, 0}),
      chained_key({1, 2}, tokens, "a"),
      chained_key({1, 2}, tokens, "b"),
      // The bytes of token 3 as a mark behind 1, 2.
      chained_key(
          {1, 2}, std::vector<int32_t>{1, 2}, std::string_view("\3\0\0\0", 4))};
  EXPECT_EQ(keys.size(), 9u);
  EXPECT_EQ(std::unordered_set<Key128>(keys.begin(), keys.end()).size(), 9u);
}

TEST(KeyHash, ShowsAllDigitsHighFirst) {
  EXPECT_EQ((Key128{1, 0xab}).hex(), "000000000000000100000000000000ab");
  EXPECT_LT((Key128{1, 9}), (Key128{2, 0}));
  EXPECT_LT((Key128{1, 8}), (Key128{1, 9}));
}

TEST(Checksum, IsXxh3Of64Bits) {
  EXPECT_EQ(checksum(""), 0x2d06800538d394c2u);
  EXPECT_EQ(checksum("abc"), 0x78af5f94892f3950u);
  EXPECT_EQ(checksum(std::string(4096, '\0')), 0x93d76fe148c689bau);
}

TEST(Checksum, GivesTheSumsThatStoredBytesHave) {
  // At the lengths where XXH3 goes from one way to the next.
  const std::pair<size_t, uint64_t> golden[] = {
      {1, 0xe12ef9d2eb86ceebu},
      {16, 0x913bd4a8038027a7u},
      {17, 0x2bf6f66973a6179du},
      {128, 0xc4399c7829d0628fu},
      {129, 0x8433489056750b32u},
      {240, 0x3c0bb96864e543a1u},
      {241, 0xbff7215089202d8fu},
      {1024, 0xac8e32e4ea3ba062u},
      {4096, 0x99e3c931dab3e711u}};
  for (const auto& [size, expected] : golden) {
    std::string text;
    for (size_t i = 0; i < size; ++i) {
      text += static_cast<char>(i * 7 + 1);
    }
    EXPECT_EQ(checksum(text), expected) << size;
    Checksum pieces;
    for (size_t begin = 0; begin < size; begin += 100) {
      pieces.add(
          bytes_of(text).subspan(begin, std::min<size_t>(100, size - begin)));
    }
    EXPECT_EQ(pieces.value(), expected) << size;
  }
}

TEST(Checksum, ChangesWithEveryBit) {
  std::string text(300, 'x');
  const uint64_t whole = checksum(text);
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(checksum(text), whole) << bit;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
  }
  EXPECT_NE(checksum(text.substr(0, 299)), whole);
}

} // namespace
} // namespace holdfast
