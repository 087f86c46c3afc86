// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/kv_choice.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

KvChoice choice_of(std::string_view text) {
  return parse_kv_choice(text).value();
}

TEST(KvChoice, ReadsTheGrammarAndWritesTheShortestText) {
  const std::pair<const char*, const char*> cases[] = {
      {"bf16", "bf16"},
      {"q8", "q8"},
      {"q8/q8", "q8"},
      {"q8g64", "q8"},
      {"q8/t3", "q8/t3"},
      {"q4g32@1024", "q4g32@1024"},
      {"q8/t3@01024", "q8/t3@1024"},
      {"t4@0", "t4"},
      {"t4@inf", "t4@never"},
      {"t4@never", "t4@never"},
      {"bf16@1024", "bf16"},
      {"f32/bf16@never", "f32/bf16"},
      {"bf16/q4@7", "bf16/q4@7"},
  };
  for (const auto& [text, canonical] : cases) {
    EXPECT_EQ(to_string(choice_of(text)), canonical) << text;
    EXPECT_EQ(choice_of(canonical), choice_of(text)) << text;
  }
}

TEST(KvChoice, ComesBackFromItsTextForTheWholeMatrix) {
  for (const Codec* keys : all_codecs()) {
    for (const Codec* values : all_codecs()) {
      for (const char* start : {"", "@1", "@4096", "@never"}) {
        const std::string text = keys->name() + "/" + values->name() + start;
        const KvChoice choice = choice_of(text);
        EXPECT_EQ(choice.then, (KvCodecs{keys, values}));
        EXPECT_EQ(choice_of(to_string(choice)), choice) << text;
      }
    }
  }
}

TEST(KvChoice, StoresBf16BeforeTheStartUnlessTheCodecIsDense) {
  const Codec* bf16 = find_codec("bf16").value();
  const Codec* f32 = find_codec("f32").value();
  const KvChoice choice = choice_of("f32/t4@300");
  EXPECT_EQ(choice.first, (KvCodecs{f32, bf16}));
  EXPECT_EQ(choice.start, Position(300));
  EXPECT_TRUE(choice.converts());
  EXPECT_EQ(choice_of("t4").first, choice_of("t4").then);
  EXPECT_FALSE(choice_of("t4").converts());
  EXPECT_FALSE(choice_of("t4@never").converts());
  EXPECT_EQ(choice_of("t4@never").first, (KvCodecs{bf16, bf16}));
}

TEST(KvChoice, RefusesOtherTextAndListsWhatIsKnown) {
  for (const char* text :
       {"", "q9", "q8/", "/q8", "q8/t3/t4", "q8 ", "Q8", "@5"}) {
    const Status status = parse_kv_choice(text).status();
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << text;
    EXPECT_NE(status.text().find("bf16, f16, f32, q8"), std::string::npos);
    EXPECT_NE(status.text().find("KEYS[/VALUES][@START]"), std::string::npos);
  }
  for (const char* text :
       {"q8@",
        "q8@-1",
        "q8@1.5",
        "q8@1k",
        "q8@5@6",
        "q8@ 5",
        "q8@Never",
        "q8@9223372036854775807",
        "q8@99999999999999999999"}) {
    const Status status = parse_kv_choice(text).status();
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << text;
    EXPECT_NE(
        status.text().find("START is a number of positions"), std::string::npos)
        << status.text();
    EXPECT_NE(status.text().find(text), std::string::npos);
  }
}

TEST(KvPolicy, PrefersTheLayerThenItsGroupThenTheUsualChoice) {
  KvPolicy policy;
  policy.usual = choice_of("q8");
  policy.groups["sliding"] = choice_of("bf16");
  policy.layers[2] = choice_of("t4@64");
  EXPECT_EQ(policy.of(0, "full"), choice_of("q8"));
  EXPECT_EQ(policy.of(1, "sliding"), choice_of("bf16"));
  EXPECT_EQ(policy.of(2, "sliding"), choice_of("t4@64"));
}

TEST(KvPolicy, RefusesLayersGroupsAndHeadsThatTheModelDoesNotHave) {
  const std::vector<KvLayer> model{
      {"sliding", 64, 64}, {"full", 128, 80}, {"sliding", 64, 64}};
  KvPolicy policy;
  policy.usual = choice_of("q8/t4");
  EXPECT_TRUE(policy.fits(model).ok());

  policy.layers[3] = choice_of("q8");
  EXPECT_EQ(policy.fits(model).code(), ErrorCode::kInvalidArgument);
  policy.layers = {};
  policy.groups["ful"] = choice_of("q8");
  EXPECT_EQ(
      policy.fits(model).text(),
      "[kv] expected a group of this model (full, sliding), got \"ful\"");
  policy.groups = {};
  policy.usual = choice_of("q4@never");
  const Status status = policy.fits(model);
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_TRUE(status.text().starts_with("[kv] layer 1: [q4] expected"));
  EXPECT_TRUE(status.text().ends_with("t4 fits"));
  policy.layers[1] = choice_of("q4/t4");
  EXPECT_TRUE(policy.fits(model).ok());
}

} // namespace
} // namespace holdfast
