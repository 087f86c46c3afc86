// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/formats/bpe_vocabulary.h"

namespace holdfast {
namespace {

using testing::HasSubstr;

void expect_refused(
    const BpeVocabulary& vocabulary,
    ErrorCode code,
    const char* text) {
  const Status status = vocabulary.status();
  EXPECT_EQ(status.code(), code) << status.text();
  EXPECT_THAT(status.text(), HasSubstr(text));
}

TEST(BpeBuild, RefusesMergesOfWhatIsNoPiece) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  vocabulary.merge("a", "b");
  vocabulary.merge_only("ab", "x");
  expect_refused(
      vocabulary,
      ErrorCode::kCorrupt,
      "merges: expected two pieces and what "
      "they make at 1, got one that is no");
  vocabulary = BpeVocabulary::byte_level();
  vocabulary.merge_only("aq", "b");
  expect_refused(vocabulary, ErrorCode::kCorrupt, "at 0");
}

TEST(BpeBuild, RefusesMergesOfUnknownAndBytePieces) {
  BpeVocabulary vocabulary = BpeVocabulary::marked();
  vocabulary.add("a");
  vocabulary.merge("a", "<0x41>");
  expect_refused(vocabulary, ErrorCode::kUnsupported, "a byte piece");
  vocabulary = BpeVocabulary::marked();
  vocabulary.add("a");
  vocabulary.merge("<unk>", "a");
  expect_refused(vocabulary, ErrorCode::kUnsupported, "an unknown or");
}

TEST(BpeBuild, RefusesEqualPieces) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  vocabulary.add("a");
  expect_refused(
      vocabulary, ErrorCode::kCorrupt, "piece 256 equal to piece 97");
}

TEST(BpeBuild, RefusesWhatCannotEncodeEveryText) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  vocabulary.spec.pieces[7] = "no byte";
  expect_refused(vocabulary, ErrorCode::kUnsupported, "a piece for each byte");
  vocabulary = BpeVocabulary::marked();
  vocabulary.spec.pieces[255] = "no byte";
  expect_refused(vocabulary, ErrorCode::kUnsupported, "none that is <0xFF>");
  vocabulary = BpeVocabulary::marked(false);
  vocabulary.spec.special.unknown = kNoToken;
  expect_refused(vocabulary, ErrorCode::kUnsupported, "unk_token");
}

TEST(BpeBuild, RefusesIdsOutOfRange) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  vocabulary.spec.special.bos = 256;
  expect_refused(
      vocabulary,
      ErrorCode::kCorrupt,
      "bos_token_id: expected an "
      "id below 256, got 256");
  vocabulary = BpeVocabulary::byte_level();
  vocabulary.spec.special.add_eos = true;
  expect_refused(vocabulary, ErrorCode::kCorrupt, "add_eos_token");
  vocabulary = BpeVocabulary::byte_level();
  vocabulary.spec.added.push_back({.id = 256, .text = "x"});
  expect_refused(vocabulary, ErrorCode::kCorrupt, "added_tokens");
  vocabulary = BpeVocabulary::byte_level();
  vocabulary.add_token({.text = std::string(1025, 'x')});
  expect_refused(vocabulary, ErrorCode::kCorrupt, "1 to 1024 bytes");
  expect_refused({}, ErrorCode::kCorrupt, "1 to 2^28 pieces");
}

TEST(BpeBuild, KeepsNothingOfWhatItWasBuiltFrom) {
  auto vocabulary =
      std::make_unique<BpeVocabulary>(BpeVocabulary::byte_level());
  const TokenId ab = vocabulary->merge("a", "b");
  const Tokenizer tokenizer = vocabulary->build();
  for (std::string& text : vocabulary->texts) {
    std::fill(text.begin(), text.end(), '?');
  }
  vocabulary.reset();
  EXPECT_EQ(tokenizer.encode("ab"), std::vector{ab});
  EXPECT_EQ(tokenizer.piece(ab), "ab");
  EXPECT_EQ(tokenizer.kind(), "byte-level BPE");
}

} // namespace
} // namespace holdfast
