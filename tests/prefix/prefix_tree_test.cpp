// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/prefix_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/code_of.h"
#include "tests/prefix/known.h"

namespace holdfast {
namespace {

using testing::HasSubstr;

TEST(PrefixTree, KnowsNothingAtFirst) {
  Known known(full_rules());
  EXPECT_EQ(known.usable(text_of(100)), 0);
  const Why why = known.tree.why(known.scope, text_of(100).path());
  EXPECT_EQ(why.end, Why::End::kNothing);
}

TEST(PrefixTree, ReusesToTheTokenInsideABlock) {
  Known known(full_rules());
  const Text text = text_of(200);
  known.put(text);
  for (const int64_t at : {0, 1, 63, 64, 65, 130, 191, 192, 199}) {
    EXPECT_EQ(known.usable(changed_at(text, at)), at);
  }
}

TEST(PrefixTree, SharesWhatIsThere) {
  Known known({{}, {.window = 100}});
  const Text text = text_of(200);
  const Inserted first = known.put(text);
  EXPECT_EQ(first.fresh.size(), 4u);
  known.store(first);
  const Bytes before = known.tree.bytes();
  EXPECT_TRUE(known.put(text).fresh.empty());
  EXPECT_EQ(known.tree.bytes(), before);
  // Another end: two images of block 2 and of the tail are new.
  const Inserted other = known.put(changed_at(text, 150));
  ASSERT_EQ(other.fresh.size(), 2u);
  EXPECT_EQ(other.fresh[0].slots.size(), 2u);
}

TEST(PrefixTree, LetsGoOfATailThatGrows) {
  Known known(full_rules());
  const Text text = text_of(400);
  for (const int64_t length : {10, 50, 64, 70, 100, 200, 390, 400}) {
    known.put(text.first(length));
    // As many images as blocks: no ancestor is a second entry.
    EXPECT_EQ(known.tree.stats().ram_images, ceil_div(length, kBlockTokens));
    EXPECT_EQ(known.tree.stats().chats, 1);
  }
  known.put(text.first(330)); // is known already
  EXPECT_EQ(known.tree.stats().ram_images, 7);
  EXPECT_EQ(known.usable(text), 399);
}

TEST(PrefixTree, NeedsAWindowAndItsSinksAlone) {
  Known known({{.window = 100, .sinks = 4}});
  const Text text = text_of(500);
  auto images = known.rig.images(text);
  // Without block 2: all that needs it is impossible.
  std::erase_if(images, [](const GivenImage& image) {
    return image.block == BlockIndex(2);
  });
  known.tree.insert(known.scope, text.path(), images);
  EXPECT_EQ(known.usable(text), 499);
  // At 291 the next query sees 192 and later; at 290 also 191.
  EXPECT_EQ(known.usable(text.first(292)), 291);
  EXPECT_EQ(known.usable(text.first(291)), 128);
  const Why why = known.tree.why(known.scope, text.first(291).path());
  EXPECT_EQ(why.gap, Why::Gap::kMissing);
  EXPECT_EQ(why.gap_block, BlockIndex(2));
}

TEST(PrefixTree, GoesBackToTheNewestRecurrentSnapshot) {
  Known known({{}, {.window = 2}});
  const Text text = text_of(500);
  auto images = known.rig.images(text);
  std::erase_if(images, [](const GivenImage& image) {
    return image.slot.group == 1 && image.block != BlockIndex(3) &&
        image.block != BlockIndex(7);
  });
  known.tree.insert(known.scope, text.path(), images);
  EXPECT_EQ(known.usable(text), 499); // block 7 begins at 448
  EXPECT_EQ(known.usable(text.first(449)), 256);
  EXPECT_EQ(known.usable(text.first(250)), 249);
  EXPECT_EQ(known.usable(text.first(190)), 0);
  EXPECT_THAT(
      known.tree.why(known.scope, text.first(449).path()).line(),
      HasSubstr("recurrent snapshot missing: block 6 of layer group 1"));
}

// A tail that is being written went for a longer text, which was evicted.
TEST(PrefixTree, SaysOfWhatIsBeingWrittenThatItIs) {
  Known known(full_rules());
  const Text text = text_of(120);
  const Inserted tail = known.put(text.first(100));
  const WriteBatch batch = known.tree.begin_write(tail.fresh);
  known.put(text);
  known.tree.reclaim(kUnlimitedBytes - Bytes(1 << 20));
  const Why why = known.why(text);
  EXPECT_EQ(why.usable, Position(64));
  EXPECT_EQ(why.gap, Why::Gap::kWriting);
  EXPECT_EQ(why.gap_block, BlockIndex(1));
  EXPECT_THAT(
      why.line(), HasSubstr("block 1 of layer group 0 is being written"));
  known.tree.stored(batch, known.disk.store(batch));
  EXPECT_EQ(known.usable(text), 100);
  known.tree.check();
}

TEST(PrefixTree, CountsWhyLookupsReusedNoMore) {
  Known known({{}, {.window = 2}});
  EXPECT_EQ(known.usable(text_of(70)), 0); // nothing is known
  const Text text = text_of(200);
  auto images = known.rig.images(text);
  std::erase_if(images, [](const GivenImage& image) {
    return image.slot.group == 1 && image.block == BlockIndex(1);
  });
  known.tree.insert(known.scope, text.path(), images);
  EXPECT_EQ(known.usable(text), 199); // all but the last token
  EXPECT_EQ(known.usable(changed_at(text, 100)), 64); // no snapshot
  known.why(text); // counts nothing
  const TreeStats stats = known.tree.stats();
  const auto ends = [&](Why::End end) {
    return stats.ends[static_cast<size_t>(end)];
  };
  EXPECT_EQ(ends(Why::End::kNothing), 1);
  EXPECT_EQ(ends(Why::End::kPrompt), 1);
  EXPECT_EQ(ends(Why::End::kDiffers), 1);
  EXPECT_EQ(
      stats.line(),
      "2 of 3 prompts knew something: 263 of 470 tokens reused (0 from SSD); "
      "ended by: prompt 1, nothing 1, differs 1; held back by: last token 1, "
      "snapshot 1");
}

TEST(PrefixTree, KeepsThePrecisionFloorOfEveryPhase) {
  Known known({{.starts = {Position(100)}}});
  const Text text = text_of(200);
  known.put(text, {1}); // a row that was converted at 100
  EXPECT_EQ(known.usable(text.first(150)), 149);
  EXPECT_EQ(known.usable(text.first(101)), 100);
  EXPECT_EQ(known.usable(text.first(100)), 0); // a cold run is dense there
  EXPECT_EQ(
      known.tree.why(known.scope, text.first(100).path()).gap,
      Why::Gap::kPrecision);
  known.put(text.first(100), {0});
  EXPECT_EQ(known.usable(text.first(100)), 99);
  EXPECT_EQ(known.usable(text.first(101)), 100);
  EXPECT_EQ(known.usable(text), 199);
}

TEST(PrefixTree, NeverEndsInsideABidirectionalSpan) {
  Known known(full_rules());
  Text text = text_of(300);
  text.marks = {{Position(40), Position(150), true}};
  known.put(text);
  EXPECT_EQ(known.usable(text.first(151)), 150);
  Text other = text.first(200);
  other.tokens[170] = -1;
  EXPECT_EQ(known.usable(other), 170);
  // Another token within the span: nothing of the span is the same.
  EXPECT_EQ(known.usable(changed_at(text, 140)), 40);
  // Nor without the span, or with a shorter one.
  Text plain = text;
  plain.marks.clear();
  EXPECT_EQ(known.usable(plain), 40);
  plain.marks = {{Position(40), Position(149), true}};
  EXPECT_EQ(known.usable(plain), 40);
}

TEST(PrefixTree, KeepsBothTextsWhoseSpansDifferBehindABlock) {
  Known known(full_rules());
  Text a = text_of(200);
  a.marks = {{Position(40), Position(150), true}};
  const Text b = changed_at(a, 140); // equal tokens in block 0
  known.put(a);
  known.put(b);
  EXPECT_EQ(known.usable(a), 199);
  EXPECT_EQ(known.usable(b), 199);
}

TEST(PrefixTree, FindsTheLongestRunAmongThousandsOfChildren) {
  Known known({{}, {.window = 2}});
  const Text text = text_of(128);
  for (int32_t i = 0; i < 2000; ++i) {
    Text each = text;
    each.tokens[static_cast<size_t>(70 + i % 50)] = 100000 + i;
    auto images = known.rig.images(each);
    // The recurrent state is there for few of them.
    if (i % 50 != 20) {
      std::erase_if(images, [](const GivenImage& image) {
        return image.slot.group == 1 && image.block == BlockIndex(1);
      });
    }
    known.tree.insert(known.scope, each.path(), images);
  }
  known.tree.check();
  EXPECT_EQ(known.usable(text), 90);
  EXPECT_EQ(known.tree.why(known.scope, text.path()).matched, Position(119));
}

TEST(PrefixTree, RefusesWhatNoRowOfThePathHas) {
  Known known(full_rules());
  const Text text = text_of(100);
  auto images = known.rig.images(text);
  const auto insert = [&](const std::vector<GivenImage>& given) {
    return code_of([&] { known.tree.insert(known.scope, text.path(), given); });
  };
  auto wrong = images;
  wrong[1].block = BlockIndex(2);
  EXPECT_EQ(insert(wrong), ErrorCode::kInvalidArgument);
  wrong = images;
  wrong[1].slot.phase = 1;
  EXPECT_EQ(insert(wrong), ErrorCode::kInvalidArgument);
  wrong = images;
  wrong[0].image = known.rig.pool.allocate(0); // open
  EXPECT_EQ(insert(wrong), ErrorCode::kInvalidArgument);
  EXPECT_EQ(known.tree.stats().nodes, 0);
  EXPECT_EQ(
      code_of([&] { known.tree.open(PrefixRig::scope(), {{.window = 8}}); }),
      ErrorCode::kInvalidArgument);
}

TEST(PrefixTree, SaysTheFieldInWhichAnotherScopeDiffers) {
  Known known(full_rules());
  const Text text = text_of(100);
  const Scope q8(signature("layer 3 storage", "q8"));
  const Scope q4(signature("layer 3 storage", "q4"));
  const ScopeHandle one = known.tree.open(q4, known.rig.rules);
  const ScopeHandle two = known.tree.open(q8, known.rig.rules);
  known.tree.insert(one, text.path(), known.rig.images(text));
  const Usable found = known.tree.usable(two, text.path());
  EXPECT_EQ(found.length, Position(0));
  EXPECT_EQ(found.why.other_scope, "layer 3 storage: expected q8, got q4");
  EXPECT_EQ(found.why.other_matched, Position(100));
  // Not across tenants.
  const Scope stranger(signature("layer 3 storage", "q8"), "", "salt");
  const ScopeHandle three = known.tree.open(stranger, known.rig.rules);
  EXPECT_EQ(known.tree.why(three, text.path()).other_scope, "");
}

TEST(PrefixTree, ExplainsItselfInOneLine) {
  Known known(full_rules());
  const Text text = text_of(200);
  known.put(text);
  EXPECT_EQ(
      known.tree.why(known.scope, changed_at(text, 130).path()).line(),
      "reused 130 of 200 tokens (130 from RAM, 0 from SSD): token 130 differs: "
      "expected 4030, got 4037");
  EXPECT_EQ(
      known.tree.why(known.scope, text.path()).line(),
      "reused 199 of 200 tokens (199 from RAM, 0 from SSD): the last token is "
      "always computed");
  EXPECT_EQ(
      known.tree.why(known.scope, text_of(300).path()).line(),
      "reused 200 of 300 tokens (200 from RAM, 0 from SSD): what is stored "
      "ends at 200");
}

} // namespace
} // namespace holdfast
