// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/gguf_ends.h"

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/formats/gguf_writer.h"
#include "tests/formats/tokenizer_vocabulary.h"

namespace holdfast {
namespace {

using test::GgufImage;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr TokenId kEos = 1;
constexpr TokenId kFirst = 4 + 256; // behind the bytes

std::vector<int32_t> ends(
    const std::vector<std::pair<const char*, PieceType>>& pieces,
    const std::function<void(GgufImage&)>& add = nullptr) {
  TestVocabulary vocabulary = usual_beginning();
  for (const auto& [piece, type] : pieces) {
    vocabulary.add(piece, type);
  }
  GgufImage image;
  image.add_tensor("t", GgufType::kF32, {1});
  if (add) {
    add(image);
  }
  const std::string bytes = image.bytes();
  const auto file = GgufFile::parse(std::as_bytes(std::span(bytes)), "f");
  return gguf_ends(file.value(), vocabulary.build());
}

TEST(GgufEnds, AreWhatKeysNameEachOnce) {
  EXPECT_THAT(ends({}), ElementsAre(kEos));
  const auto named = [](const char* key, uint32_t id) {
    return [=](GgufImage& image) {
      image.add<uint32_t>(key, GgufValue::kU32, id);
    };
  };
  EXPECT_THAT(
      ends({}, named("tokenizer.ggml.eot_token_id", 7)), ElementsAre(kEos, 7));
  EXPECT_THAT(
      ends({}, named("tokenizer.ggml.eom_token_id", 9)), ElementsAre(kEos, 9));
  EXPECT_THAT(
      ends({}, named("tokenizer.ggml.eot_token_id", kEos)), ElementsAre(kEos));
  try {
    ends({}, named("tokenizer.ggml.eot_token_id", kFirst));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("tokenizer.ggml.eot_token_id"));
  }
}

TEST(GgufEnds, AreTheTurnsOfFamiliesThatNameNone) {
  EXPECT_THAT(
      ends({{"<|end|>", PieceType::kControl}}), ElementsAre(kEos, kFirst));
  EXPECT_THAT(
      ends(
          {{"<|im_end|>", PieceType::kControl},
           {"<|endoftext|>", PieceType::kControl}}),
      ElementsAre(kEos, kFirst, kFirst + 1));
  // Text of the same spelling ends nothing.
  EXPECT_THAT(ends({{"<|end|>", PieceType::kNormal}}), ElementsAre(kEos));
}

TEST(GgufEnds, LeaveMessagesInsideATurnAlone) {
  EXPECT_THAT(
      ends(
          {{"<|end|>", PieceType::kControl},
           {"<|return|>", PieceType::kControl},
           {"<|call|>", PieceType::kControl}}),
      ElementsAre(kEos, kFirst + 1, kFirst + 2));
}

} // namespace
} // namespace holdfast
