// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Files cut anywhere and with flipped bits: either they parse and every view
// can be read, or one line says what is wrong. Run under a sanitizer too.

#include <cstring>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "tests/formats/gguf_support.h"
#include "tests/formats/gguf_touch.h"

namespace holdfast::test {
namespace {

/// Parses a copy of exactly these bytes, so that a sanitizer sees the first
/// byte read behind them. The complaint, or "ok".
std::string try_bytes(std::string_view bytes) {
  const auto copy = std::make_unique<std::byte[]>(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  const Result<GgufFile> file =
      GgufFile::parse({copy.get(), bytes.size()}, "m.gguf");
  if (file.ok()) {
    touch(file.value());
    return "ok";
  }
  return file.status().text();
}

void expect_one_line(const std::string& text) {
  EXPECT_TRUE(text.starts_with("m.gguf: ")) << text;
  EXPECT_NE(text.find(" at offset "), text.npos) << text;
  EXPECT_NE(text.find(": expected "), text.npos) << text;
  EXPECT_NE(text.find(", got "), text.npos) << text;
  EXPECT_EQ(text.find('\n'), text.npos) << text;
  EXPECT_LT(text.size(), 400u);
}

/// Some 300 kB: a vocabulary and a few matrices.
GgufImage large_gguf() {
  GgufImage image = small_gguf();
  std::vector<std::string> tokens;
  std::vector<float> scores;
  for (int i = 0; i < 8000; ++i) {
    tokens.push_back("token " + std::to_string(i * i));
    scores.push_back(static_cast<float>(-i));
  }
  image.add_texts("tokenizer.tokens", tokens);
  image.add_values("tokenizer.scores", GgufValue::kF32, scores);
  image.add_tensor("embedding", GgufType::kQ6_K, {256, 300});
  image.add_tensor("output", GgufType::kF32, {64, 64});
  return image;
}

TEST(GgufDamage, ComplainsInOneLineWhereverASmallFileIsCut) {
  const std::string bytes = small_gguf().bytes();
  ASSERT_EQ(try_bytes(bytes), "ok");
  for (size_t size = 0; size < bytes.size(); ++size) {
    expect_one_line(try_bytes(std::string_view(bytes).substr(0, size)));
  }
}

TEST(GgufDamage, ComplainsInOneLineWhereverALargerFileIsCut) {
  const std::string bytes = large_gguf().bytes();
  ASSERT_EQ(try_bytes(bytes), "ok");
  ASSERT_GT(bytes.size(), 200'000u);
  for (size_t size = 0; size < bytes.size(); size += 4096) {
    expect_one_line(try_bytes(std::string_view(bytes).substr(0, size)));
  }
}

TEST(GgufDamage, SurvivesFlippedBits) {
  const GgufImage image = small_gguf();
  const std::string bytes = image.bytes();
  const size_t header = image.header().size();
  std::mt19937 random(42);
  int parsed = 0;
  int refused = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string damaged = bytes;
    for (uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      damaged[random() % header] ^= static_cast<char>(1 << random() % 8);
    }
    const std::string text = try_bytes(damaged);
    if (text == "ok") {
      ++parsed;
    } else {
      ++refused;
      expect_one_line(text);
    }
  }
  // Flips in names and values parse, flips in structure do not.
  EXPECT_GT(parsed, 100);
  EXPECT_GT(refused, 100);
}

TEST(GgufDamage, SurvivesEveryFieldSetToAnExtreme) {
  const GgufImage image = small_gguf();
  const std::string bytes = image.bytes();
  for (size_t at = 0; at + 8 <= image.header().size(); ++at) {
    for (const uint64_t value :
         {uint64_t{0}, UINT64_MAX, uint64_t{1} << 63, uint64_t{INT32_MAX}}) {
      for (const size_t width : {size_t{4}, size_t{8}}) {
        std::string damaged = bytes;
        std::memcpy(damaged.data() + at, &value, width);
        const std::string text = try_bytes(damaged);
        if (text != "ok") {
          expect_one_line(text);
        }
      }
    }
  }
}

} // namespace
} // namespace holdfast::test
