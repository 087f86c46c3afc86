// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/sha256.h"

#include <array>
#include <set>
#include <span>
#include <string>
#include <unordered_set>

#include <gtest/gtest.h>

#include "holdfast/base/hex.h"

namespace holdfast {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Sha256, GivesTheDigestsOfTheStandard) {
  // The examples of FIPS 180-2, appendix B, and the empty text.
  EXPECT_EQ(
      sha256("").hex(),
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(
      sha256("abc").hex(),
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(
      sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex(),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      sha256(std::string(1'000'000, 'a')).hex(),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnThePiecesThatAreAdded) {
  const std::string text(1000, 'q');
  for (const size_t piece : {1u, 63u, 64u, 65u, 999u}) {
    Sha256 hash;
    for (size_t begin = 0; begin < text.size(); begin += piece) {
      hash.add(bytes_of(text.substr(begin, piece)));
    }
    EXPECT_EQ(hash.finish(), sha256(text)) << piece;
    EXPECT_EQ(hash.add({}).finish(), sha256("")) << "starts anew";
  }
}

TEST(Digest256, ReadsBackExactlyWhatItShows) {
  const Digest256 digest = sha256("abc");
  EXPECT_EQ(Digest256::from_hex(digest.hex()), digest);
  std::string wrong = digest.hex();
  for (const char c : {'A', 'g', ' ', '\0'}) {
    wrong[10] = c;
    EXPECT_EQ(Digest256::from_hex(wrong), std::nullopt) << c;
  }
  EXPECT_EQ(Digest256::from_hex(digest.hex() + "0"), std::nullopt);
  EXPECT_EQ(Digest256::from_hex(digest.hex().substr(1)), std::nullopt);
  EXPECT_EQ(Digest256::from_hex(""), std::nullopt);
}

TEST(Digest256, IsAKeyOfOrderedAndHashedTables) {
  std::set<Digest256> ordered;
  std::unordered_set<Digest256> hashed;
  for (int i = 0; i < 100; ++i) {
    ordered.insert(sha256(std::to_string(i % 50)));
    hashed.insert(sha256(std::to_string(i % 50)));
  }
  EXPECT_EQ(ordered.size(), 50u);
  EXPECT_EQ(hashed.size(), 50u);
}

TEST(Hex, ShowsAndReadsEveryByte) {
  std::array<std::byte, 256> all{};
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<std::byte>(i);
  }
  const std::string text = to_hex(all);
  EXPECT_EQ(text.substr(0, 6), "000102");
  EXPECT_EQ(text.substr(506), "fdfeff");
  std::array<std::byte, 256> read{};
  ASSERT_TRUE(from_hex(text, read));
  EXPECT_EQ(read, all);
  EXPECT_TRUE(from_hex("", {}));
}

} // namespace
} // namespace holdfast
