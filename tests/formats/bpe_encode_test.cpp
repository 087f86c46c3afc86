// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/formats/bpe_vocabulary.h"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kMark(kSpaceMark);

TEST(BpeEncode, MergesTheLowestRankFirstAndTheLeftmostOnATie) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  const TokenId bc = vocabulary.merge("b", "c");
  const TokenId ab = vocabulary.merge("a", "b");
  const TokenId aa = vocabulary.merge("a", "a");
  const TokenId abc = vocabulary.merge("a", "bc");
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(tokenizer.encode("abc"), ElementsAre(abc));
  EXPECT_THAT(tokenizer.encode("abab"), ElementsAre(ab, ab));
  EXPECT_THAT(tokenizer.encode("aaa"), ElementsAre(aa, 'a'));
  EXPECT_THAT(tokenizer.encode("bcb"), ElementsAre(bc, 'b'));
  EXPECT_THAT(tokenizer.encode(""), IsEmpty());
}

TEST(BpeEncode, TakesAWordThatIsAPieceWholeWhereAsked) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  const TokenId ab = vocabulary.merge("a", "b");
  const TokenId xyz = vocabulary.add("xyz"); // no merges lead here
  const TokenId space = vocabulary.add("\xC4\xA0xyz"); // " xyz"
  EXPECT_THAT(vocabulary.build().encode("xyz"), ElementsAre('x', 'y', 'z'));
  vocabulary.spec.whole_words = true;
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(tokenizer.encode("xyz"), ElementsAre(xyz));
  EXPECT_THAT(tokenizer.encode(" xyz"), ElementsAre(space));
  EXPECT_THAT(tokenizer.encode("abxyz"), ElementsAre(ab, 'x', 'y', 'z'));
}

TEST(BpeEncode, WritesBytesOfCharactersWithoutPiece) {
  BpeVocabulary vocabulary = BpeVocabulary::marked();
  const TokenId e = vocabulary.add("é");
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(tokenizer.encode("éü"), ElementsAre(e, 0xC3, 0xBC));
  EXPECT_THAT(tokenizer.encode("\xC3"), ElementsAre(0xC3));
}

TEST(BpeEncode, FusesARunOfUnknownCharactersWhereAsked) {
  BpeVocabulary vocabulary = BpeVocabulary::marked(false);
  const TokenId unknown = vocabulary.spec.special.unknown;
  const TokenId a = vocabulary.add("a");
  EXPECT_THAT(
      vocabulary.build().encode("éüa"), ElementsAre(unknown, unknown, a));
  vocabulary.spec.fuse_unknown = true;
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(tokenizer.encode("éüaé"), ElementsAre(unknown, a, unknown));
  // Longer than a word that is merged at once, and again out of the cache.
  std::string many;
  for (int i = 0; i < 100; ++i) {
    many += "éü";
  }
  EXPECT_THAT(
      tokenizer.encode(many + "a" + many), ElementsAre(unknown, a, unknown));
}

TEST(BpeEncode, CutsAddedTokensOutOfText) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  const TokenId end = vocabulary.add_token({.text = "<end>", .special = true});
  const TokenId tag = vocabulary.add_token({.text = "<b>"});
  const TokenId right =
      vocabulary.add_token({.text = "<r>", .right_strip = true});
  const TokenId left =
      vocabulary.add_token({.text = "<l>", .left_strip = true});
  const TokenId word =
      vocabulary.add_token({.text = "hi", .single_word = true});
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(tokenizer.encode("a<b>c"), ElementsAre('a', tag, 'c'));
  EXPECT_THAT(tokenizer.encode("<r> \n a"), ElementsAre(right, 'a'));
  EXPECT_THAT(tokenizer.encode("a \t<l> "), ElementsAre('a', left, ' '));
  EXPECT_THAT(tokenizer.encode("hi,hi"), ElementsAre(word, ',', word));
  EXPECT_THAT(
      tokenizer.encode("hi\xC3\xA9"), ElementsAre('h', 'i', 0xC3, 0xA9));
  EXPECT_THAT(
      tokenizer.encode("\xC3\xA9hi"), ElementsAre(0xC3, 0xA9, 'h', 'i'));
  EXPECT_THAT(tokenizer.encode("<end>"), ElementsAre('<', 'e', 'n', 'd', '>'));
  EXPECT_THAT(
      tokenizer.encode("<end>", {.parse_special = true}), ElementsAre(end));
}

TEST(BpeEncode, CutsAddedTokensOutOfBytesThatAreNotUtf8) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  const TokenId both = vocabulary.add_token(
      {.text = "<b>", .left_strip = true, .right_strip = true});
  const TokenId word =
      vocabulary.add_token({.text = "hi", .single_word = true});
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(
      tokenizer.encode("\xE2\x82 <b> \xFF"),
      ElementsAre(0xE2, 0x82, both, 0xFF));
  EXPECT_THAT(
      tokenizer.encode("\x80hi\xE2\x82"), ElementsAre(0x80, word, 0xE2, 0x82));
}

TEST(BpeEncode, LooksForNormalizedTokensAsTheNormalizersWriteThem) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  vocabulary.spec.normalizers = TextSteps({{.kind = TextStep::Kind::kLower}});
  const TokenId tag = vocabulary.add_token({.text = "<B>", .normalized = true});
  const TokenId raw = vocabulary.add_token({.text = "<C>"});
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(tokenizer.encode("<B><b>A"), ElementsAre(tag, tag, 'a'));
  EXPECT_THAT(tokenizer.encode("<C><c>"), ElementsAre(raw, '<', 'c', '>'));
}

TEST(BpeEncode, PutsAPrefixBeforeAStretchAndNotWhereTextGoesOn) {
  BpeVocabulary vocabulary = BpeVocabulary::marked();
  const TokenId mark = vocabulary.add(kMark);
  const TokenId a = vocabulary.add("a");
  const TokenId tag = vocabulary.add_token({.text = "<b>"});
  vocabulary.spec.normalizers = TextSteps(
      {{.kind = TextStep::Kind::kPrepend, .to = kMark},
       {.kind = TextStep::Kind::kReplace,
        .to = kMark,
        .pattern = SplitPattern::literal(" ")}});
  const Tokenizer always = vocabulary.build();
  EXPECT_THAT(
      always.encode("a a<b>a"), ElementsAre(mark, a, mark, a, tag, mark, a));
  EXPECT_THAT(always.encode("a", {.after = a}), ElementsAre(a));
  EXPECT_THAT(always.encode("a", {.after = tag}), ElementsAre(mark, a));
  vocabulary.spec.normalizers = {};
  vocabulary.spec.prefixes = TextSteps(
      {{.kind = TextStep::Kind::kPrefix, .to = kMark, .first_only = true}});
  const Tokenizer first = vocabulary.build();
  EXPECT_THAT(first.encode("a<b>a"), ElementsAre(mark, a, tag, a));
  EXPECT_THAT(first.encode(kMark + "a"), ElementsAre(mark, a));
  EXPECT_THAT(first.encode("a", {.after = tag}), ElementsAre(a));
}

TEST(BpeEncode, GivesBytesThatAreNotUtf8TheirOwnIds) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  vocabulary.spec.normalizers = TextSteps({{.kind = TextStep::Kind::kForm}});
  vocabulary.spec.words.push_back(
      {SplitPattern::compile("\\p{L}+|[^\\p{L}]+").value()});
  const Tokenizer tokenizer = vocabulary.build();
  const std::string text = "e\xCC\x81\xFF\x80zz\xE2\x82";
  EXPECT_THAT(
      tokenizer.encode(text),
      ElementsAre(0xC3, 0xA9, 0xFF, 0x80, 'z', 'z', 0xE2, 0x82));
}

TEST(BpeEncode, GivesBackTheBytesOfEveryText) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  vocabulary.merge("a", "b");
  vocabulary.merge("ab", "ab");
  vocabulary.spec.words.push_back(
      {SplitPattern::compile(" ?\\p{L}+|\\s+|[^\\s\\p{L}]").value()});
  const Tokenizer tokenizer = vocabulary.build();
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (size_t size = random() % 200; text.size() < size;) {
      text += random() % 4 == 0 ? static_cast<char>(random())
                                : "ab \xC3\xA9"[random() % 5];
    }
    const auto ids = tokenizer.encode(text);
    ASSERT_EQ(tokenizer.decode(ids), text);
  }
}

// The rule as it is written: of all pairs the lowest rank, the leftmost.
std::vector<std::string>
merged_plainly(const BpeSpec& spec, std::string_view text) {
  std::vector<std::string> symbols;
  for (const char byte : text) {
    symbols.emplace_back(1, byte);
  }
  while (true) {
    size_t best = spec.merges.size();
    size_t at = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      for (size_t rank = 0; rank < best; ++rank) {
        if (spec.merges[rank].first == symbols[i] &&
            spec.merges[rank].second == symbols[i + 1]) {
          best = rank;
          at = i;
        }
      }
    }
    if (best == spec.merges.size()) {
      return symbols;
    }
    symbols[at] += symbols[at + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

TEST(BpeEncode, MergesShortAndLongWordsAsTheRuleSays) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    BpeVocabulary vocabulary = BpeVocabulary::byte_level();
    std::vector<std::string> made{"a", "b", "c"};
    for (int i = 0; i < 12; ++i) {
      const std::string left = made[random() % made.size()];
      const std::string right = made[random() % made.size()];
      if (std::find(made.begin(), made.end(), left + right) == made.end()) {
        vocabulary.merge(left, right);
        made.push_back(left + right);
      }
    }
    const Tokenizer tokenizer = vocabulary.build();
    for (const size_t size : {1, 2, 7, 47, 48, 49, 64, 65, 300}) {
      std::string text;
      while (text.size() < size) {
        text += "abcd"[random() % 4];
      }
      std::vector<std::string> pieces;
      for (const TokenId id : tokenizer.encode(text)) {
        pieces.emplace_back(tokenizer.piece(id));
      }
      ASSERT_EQ(pieces, merged_plainly(vocabulary.spec, text)) << text;
    }
  }
}

TEST(BpeEncode, MergesAWordOfAMegabyteInTime) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  std::string piece = "a";
  for (int i = 0; i < 6; ++i) {
    vocabulary.merge(piece, piece);
    piece += piece;
  }
  const Tokenizer tokenizer = vocabulary.build();
  const std::string text(1 << 20, 'a');
  EXPECT_EQ(tokenizer.encode(text).size(), (size_t{1} << 20) / 64);
}

} // namespace
} // namespace holdfast
