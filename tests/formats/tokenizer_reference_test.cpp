// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Against a plain form that is always right: look at every pair, merge the
// best, start again.

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tokenizer_vocabulary.h"

namespace holdfast {
namespace {

struct Part {
  std::string text;
  TokenId id = kNoToken;
};

std::vector<TokenId> merge_plainly(
    const TestVocabulary& vocabulary,
    const std::vector<std::string>& characters) {
  const auto id_of = [&](const std::string& text) {
    for (size_t i = 0; i < vocabulary.texts.size(); ++i) {
      if (vocabulary.texts[i] == text &&
          vocabulary.types[i] == static_cast<int32_t>(PieceType::kNormal)) {
        return static_cast<TokenId>(i);
      }
    }
    return kNoToken;
  };
  std::vector<Part> parts;
  for (const std::string& character : characters) {
    parts.push_back({character, id_of(character)});
  }
  while (true) {
    size_t best = parts.size();
    Part merged;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const std::string text = parts[i].text + parts[i + 1].text;
      const TokenId id = id_of(text);
      if (id != kNoToken &&
          (best == parts.size() ||
           vocabulary.scores[static_cast<size_t>(id)] >
               vocabulary.scores[static_cast<size_t>(merged.id)])) {
        best = i;
        merged = {text, id};
      }
    }
    if (best == parts.size()) {
      break;
    }
    parts[best] = merged;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  std::vector<TokenId> ids;
  for (const Part& part : parts) {
    if (part.id != kNoToken) {
      ids.push_back(part.id);
      continue;
    }
    for (const char byte : part.text) {
      ids.push_back(byte_id(static_cast<uint8_t>(byte)));
    }
  }
  return ids;
}

// Pieces of one to five characters of the alphabet; scores with many ties.
TestVocabulary random_vocabulary(
    std::mt19937& random,
    const std::vector<std::string>& alphabet) {
  TestVocabulary result = usual_beginning();
  std::set<std::string> texts;
  while (texts.size() < 40) {
    std::string text;
    for (size_t length = 1 + random() % 5; length > 0; --length) {
      text += alphabet[random() % alphabet.size()];
    }
    if (texts.insert(text).second) {
      result.add(text, -static_cast<float>(random() % 8));
    }
  }
  return result;
}

TEST(TokenizerReference, AgreesWithMergingPlainlyOnRandomVocabularies) {
  const std::vector<std::string> alphabet = {
      "a", "b", "\u00e9", "\u65e5", "\U0001F389", "\xFF", "\u2581"};
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    const TestVocabulary vocabulary = random_vocabulary(random, alphabet);
    const Tokenizer tokenizer = vocabulary.build();
    std::vector<std::string> characters;
    std::string text;
    for (int i = 0; i < 40; ++i) {
      // The mark as a piece has it, the space as a text has it.
      characters.push_back(alphabet[random() % alphabet.size()]);
      text += characters.back() == kSpaceMark ? " " : characters.back();
    }
    std::vector<TokenId> expected = merge_plainly(vocabulary, characters);
    if (tokenizer.find(kSpaceMark) == kNoToken) {
      continue; // then a space is its byte, which the plain form cannot know
    }
    EXPECT_EQ(tokenizer.encode(text), expected) << "round " << round;
    EXPECT_EQ(tokenizer.decode(expected), text) << "round " << round;
  }
}

TEST(TokenizerReference, GivesBackEveryTextWithAndWithoutTheSpacePrefix) {
  std::mt19937 random(2);
  TestVocabulary vocabulary = usual_beginning();
  for (const char* piece :
       {"\u2581", "a", "\u2581a", "aa", "\u00e9", "\u2581\u2581"}) {
    vocabulary.add(piece, -static_cast<float>(vocabulary.texts.size()));
  }
  vocabulary.add("<t>", PieceType::kUserDefined);
  vocabulary.add("   ", PieceType::kUserDefined);
  const std::vector<std::string> parts = {
      " ", "  ", "a", "\u00e9", "<t>", "\xE2", "\x96", "\xC3", "<bos>", "\n"};
  for (const bool prefix : {false, true}) {
    vocabulary.rest.add_bos = prefix;
    vocabulary.rest.add_space_prefix = prefix;
    const Tokenizer tokenizer = vocabulary.build();
    for (int round = 0; round < 2000; ++round) {
      std::string text;
      for (size_t length = random() % 12; length > 0; --length) {
        text += random() % 4 ? parts[random() % parts.size()]
                             : std::string(1, static_cast<char>(random()));
      }
      if (text.find(kSpaceMark) == std::string::npos) {
        EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
      }
    }
  }
}

} // namespace
} // namespace holdfast
