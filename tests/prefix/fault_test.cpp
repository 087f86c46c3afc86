// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Faults that other prefix caches had (docs/faults.md), each kept out here.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "tests/code_of.h"
#include "tests/prefix/known.h"

namespace holdfast {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(PrefixFault, B44AFullHitAlwaysLeavesATokenToCompute) {
  const std::vector<GroupRule> rules{{}, {.window = 70}, {.window = 2}};
  Known known(rules);
  for (const int64_t length : {1, 2, 63, 64, 65, 128, 129, 200}) {
    const Text text = text_of(length, static_cast<int32_t>(length));
    known.put(text);
    EXPECT_EQ(known.usable(text), length - 1);
  }
}

TEST(PrefixFault, B48MediaOfOneLengthAreToldApartByTheirWholeDigest) {
  Known known(full_rules());
  Text first = text_of(200);
  const std::string tail(16, 't'); // digests agree but for their first byte
  first.marks = {{Position(70), Position(90), true, "a" + tail}};
  known.put(first);
  EXPECT_EQ(known.usable(first), 199);
  Text other = first;
  other.marks[0].digest = "b" + tail;
  EXPECT_EQ(known.usable(other), 70); // the text before it is shared
  other.marks[0].bidirectional = false;
  EXPECT_EQ(known.usable(other), 70);
  other.marks = {{Position(71), Position(91), true, "a" + tail}};
  EXPECT_EQ(known.usable(other), 70);
  other.marks.clear();
  EXPECT_EQ(known.usable(other), 70);
  EXPECT_EQ(known.why(other).end, Why::End::kDiffers);
  EXPECT_EQ(
      known.why(other).line().substr(0, 62),
      "reused 70 of 200 tokens (70 from RAM, 0 from SSD): media or sp");
}

TEST(PrefixFault, B49AHashThatAlwaysCollidesGivesNoWrongHit) {
  TreeOptions options;
  options.key_hash =
      [](const Key128&, std::span<const int32_t>, std::string_view) {
        return Key128{7, 7};
      };
  Known known(full_rules(), options);
  std::mt19937 random(49);
  const auto draw = [&] {
    Text text;
    const int64_t size = 1 + static_cast<int64_t>(random() % 150);
    for (int64_t i = 0; i < size; ++i) {
      text.tokens.push_back(static_cast<int32_t>(random() % 100 == 0));
    }
    return text;
  };
  std::vector<Text> put;
  for (int pair = 0; pair < 10000; ++pair) {
    if (put.size() < 200) {
      put.push_back(draw());
      known.put(put.back());
    }
    const Text asked = draw();
    const Usable found = known.tree.usable(known.scope, asked.path());
    ASSERT_TRUE(PrefixRig::own(found, asked));
    int64_t longest = 0;
    for (const Text& text : put) {
      const auto common = std::mismatch(
          text.tokens.begin(),
          text.tokens.end(),
          asked.tokens.begin(),
          asked.tokens.end());
      longest = std::max(longest, common.first - text.tokens.begin());
    }
    ASSERT_EQ(found.length.get(), std::min(longest, asked.size() - 1));
  }
  known.tree.check();
}

TEST(PrefixFault, B51StateOfAnotherLengthThanItsTokensIsRefused) {
  Known known(full_rules());
  Chains chains(known.rig.pool, known.rig.rules);
  const RowId row = chains.add();
  chains.begin(std::vector<RowAppend>{{row, 100}}).commit_all();
  const CapturedRow captured = chains.capture(row);
  for (const int64_t length : {99, 101}) {
    const Text text = text_of(length);
    EXPECT_EQ(
        code_of([&] { known.tree.insert(known.scope, text.path(), captured); }),
        ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(known.tree.stats().nodes, 0);
  const Text text = text_of(100);
  known.tree.insert(known.scope, text.path(), captured);
  const Usable found = known.tree.usable(known.scope, text.path());
  EXPECT_EQ(found.length, Position(99));
  // And it goes on.
  const RowId again = chains.add(known.rig.row(found));
  chains.begin(std::vector<RowAppend>{{again, 5}}).commit_all();
  EXPECT_EQ(chains.chain(again).committed(), Position(104));
}

TEST(PrefixFault, B53TheByteCapBindsAfterEveryPut) {
  Known known(full_rules(), {.budget = Bytes(10 * kMiB)}, kMiB);
  for (int32_t i = 0; i < 50; ++i) {
    const Text text = text_of(64, i);
    known.put(text);
    ASSERT_LE(known.tree.bytes(), Bytes(10 * kMiB));
    ASSERT_EQ(known.usable(text), 63);
  }
  EXPECT_EQ(known.tree.stats().image_bytes, Bytes(9 * kMiB)); // and the index
  EXPECT_EQ(known.usable(text_of(64, 41)), 63);
  EXPECT_EQ(known.usable(text_of(64, 40)), 0); // the oldest are gone
  EXPECT_EQ(known.rig.pool.live_bytes(), Bytes(9 * kMiB));
  EXPECT_EQ(known.why(text_of(64, 40)).end, Why::End::kEvicted);
}

TEST(PrefixFault, B54WhatAloneIsOverTheCapIsNotKept) {
  Known known(full_rules(), {.budget = Bytes(10 * kMiB)}, 6 * kMiB);
  known.put(text_of(64, 1));
  // A second one of 6 MiB: the cap holds one; the older goes, not the cap.
  known.put(text_of(64, 2));
  EXPECT_EQ(known.tree.stats().ram_images, 1);
  Known small(full_rules(), {.budget = Bytes(10 * kMiB)}, 12 * kMiB);
  const Inserted none = small.put(text_of(64, 1));
  EXPECT_EQ(none.kept, Position(0));
  EXPECT_TRUE(none.fresh.empty());
  EXPECT_EQ(small.tree.stats().ram_images, 0);
  EXPECT_EQ(small.tree.stats().nodes, 0);
}

TEST(PrefixFault, B54SnapshotsAndTailsCountLikeBlocks) {
  Known known({{}, {.window = 2}}, {.budget = Bytes(11 * kMiB)}, kMiB);
  known.put(text_of(300)); // 5 blocks of 2 images each
  EXPECT_EQ(known.tree.stats().image_bytes, Bytes(10 * kMiB));
  EXPECT_LE(known.tree.bytes(), Bytes(11 * kMiB));
}

TEST(PrefixFault, B62TheBestSnapshotAtOrBelowThePrefixIsTaken) {
  Known known({{}, {.window = 2}});
  const Text text = text_of(400);
  auto images = known.rig.images(text);
  std::erase_if(images, [](const GivenImage& image) {
    const int64_t block = image.block.get();
    return image.slot.group == 1 && block != 1 && block != 3 && block != 5;
  });
  known.tree.insert(known.scope, text.path(), images);
  // Snapshots serve up to 128, 256 and 384.
  const auto asked = [&](int64_t common) {
    Text prompt = text.first(common);
    prompt.tokens.resize(399, -5);
    return known.usable(prompt);
  };
  EXPECT_EQ(asked(127), 127);
  EXPECT_EQ(asked(128), 128);
  EXPECT_EQ(asked(129), 128);
  EXPECT_EQ(asked(261), 256);
  EXPECT_EQ(asked(399), 384);
  EXPECT_EQ(asked(60), 0);
  EXPECT_EQ(asked(0), 0);
  // None was deleted by the use of another; the same again.
  EXPECT_EQ(asked(399), 384);
  EXPECT_EQ(asked(261), 256);
  EXPECT_EQ(asked(127), 127);
}

TEST(PrefixFault, B63WhatCameBeforeDoesNotDecideWhatIsGivenOut) {
  std::array<Text, 3> texts{text_of(150, 1), text_of(150, 1), text_of(200, 1)};
  texts[1].tokens[100] = -3;
  texts[2].tokens[140] = -4;
  std::array<size_t, 3> order{0, 1, 2};
  do {
    Known known({{}, {.window = 70}});
    for (const size_t i : order) {
      known.usable(texts[i]); // as a cold run would ask
      known.put(texts[i]);
    }
    EXPECT_EQ(known.usable(texts[0]), 149);
    EXPECT_EQ(known.usable(texts[1]), 149);
    EXPECT_EQ(known.usable(texts[2]), 199);
    EXPECT_EQ(known.tree.stats().ram_images, 2 * 7); // blocks: 1 + 2 + 3 + 1
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(PrefixFault, B65StateOfOlderWeightsIsNeverFound) {
  Known known(full_rules());
  const Text text = text_of(100);
  const ScopeHandle old = known.tree.open(
      Scope(signature("weights", "version 7")), known.rig.rules);
  const ScopeHandle now = known.tree.open(
      Scope(signature("weights", "version 8")), known.rig.rules);
  const Inserted late =
      known.tree.insert(old, text.path(), known.rig.images(text));
  EXPECT_EQ(known.tree.usable(now, text.path()).length, Position(0));
  // Also once a store that was under way ends.
  known.store(late);
  known.tree.reclaim(kUnlimitedBytes - Bytes(kMiB));
  const Usable found = known.tree.usable(now, text.path());
  EXPECT_EQ(found.length, Position(0));
  EXPECT_EQ(
      found.why.other_scope, "weights: expected version 8, got version 7");
  EXPECT_EQ(known.tree.usable(old, text.path()).why.from_disk, Position(99));
}

} // namespace
} // namespace holdfast
