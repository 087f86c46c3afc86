// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tables whose keys were chosen to meet in one place: searches stay short, and
// what they find does not depend on the seed.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/formats/merge_table.h"
#include "holdfast/formats/piece_table.h"

namespace holdfast {
namespace {

constexpr HashSeed kKnown{0x1234, 0x5678};
constexpr size_t kChosen = 400; // in a table of 1024 slots

std::vector<std::string> pieces_that_meet() {
  std::vector<std::string> pieces;
  for (int i = 0; pieces.size() < kChosen; ++i) {
    std::string piece = "a long piece " + std::to_string(i);
    if (seeded_hash(piece, kKnown) % 1024 == 7) {
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

TEST(PieceTable, SearchesStayShortWherePiecesWereChosenToMeet) {
  const std::vector<std::string> texts = pieces_that_meet();
  const auto pieces = views(texts);
  for (const HashSeed seed : {kKnown, process_hash_seed()}) {
    PieceTable table(pieces, seed);
    EXPECT_EQ(table.index_all(), std::pair(kNoToken, kNoToken));
    for (size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(table.find(pieces[i]), static_cast<TokenId>(i));
      EXPECT_LE(table.passed(pieces[i]), kCrowdedSearch);
    }
    EXPECT_EQ(table.find("a long piece"), kNoToken);
  }
}

TEST(PieceTable, NamesTheSameTwinsWhateverTheSeed) {
  std::vector<std::string> texts = pieces_that_meet();
  texts.push_back(texts[5]);
  texts.push_back(texts[3]);
  const auto pieces = views(texts);
  for (const HashSeed seed : {kKnown, kKnown.next(), process_hash_seed()}) {
    PieceTable table(pieces, seed);
    EXPECT_EQ(
        table.index_all(),
        std::pair(TokenId{5}, static_cast<TokenId>(kChosen)));
  }
}

TEST(MergeTable, SearchesStayShortWherePairsWereChosenToMeet) {
  std::vector<TokenId> lefts;
  for (TokenId left = 0; lefts.size() < kChosen; ++left) {
    const uint64_t key = uint64_t{static_cast<uint32_t>(left)} << 32 | 3;
    if (seeded_hash(key, kKnown) % 1024 == 7) {
      lefts.push_back(left);
    }
  }
  for (const HashSeed seed : {kKnown, process_hash_seed()}) {
    MergeTable table(kChosen, seed);
    for (size_t i = 0; i < lefts.size(); ++i) {
      table.insert(lefts[i], 3, {static_cast<uint32_t>(i), lefts[i] + 1});
    }
    table.insert(lefts[0], 3, {9999, 1}); // has a new rank
    for (size_t i = 0; i < lefts.size(); ++i) {
      const Merge found = table.find(lefts[i], 3);
      EXPECT_EQ(found.rank, i == 0 ? 9999 : i);
      EXPECT_EQ(found.product, i == 0 ? 1 : lefts[i] + 1);
      EXPECT_LE(table.passed(lefts[i], 3), kCrowdedSearch);
    }
    EXPECT_EQ(table.find(lefts[0], 4).rank, Merge::kNever);
  }
}

TEST(SeededHash, EverySeedSpreadsKeysThatAreNeighbours) {
  HashSeed seed = process_hash_seed();
  for (int round = 0; round < 4; ++round) {
    MergeTable table(1 << 16, seed);
    size_t most = 0;
    for (TokenId id = 0; id < 1 << 16; ++id) {
      table.insert(id / 256, id % 256, {static_cast<uint32_t>(id), id});
    }
    for (TokenId id = 0; id < 1 << 16; ++id) {
      most = std::max(most, table.passed(id / 256, id % 256));
    }
    EXPECT_LE(most, kCrowdedSearch);
    seed = seed.next();
  }
}

} // namespace
} // namespace holdfast
