// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Texts that were generated are found again by name, with what a person is told
// of them.

#include "holdfast/engine/text_record.h"

#include <gtest/gtest.h>

#include "holdfast/env/manual_clock.h"
#include "holdfast/prefix/text_facts.h"
#include "tests/engine/engine_support.h"

namespace holdfast {
namespace {

using namespace test;

struct KeptSession {
  explicit KeptSession(std::string model = "tiny.gguf") {
    PrefixCacheOptions options;
    options.clock = std::make_shared<ManualClock>();
    cache = std::make_unique<PrefixCache>(*session.state, options);
    session.generator.cache = cache.get();
    session.generator.model_name = std::move(model);
  }
  std::vector<RecordFacts> texts() {
    return cache->records("text").value();
  }
  Session session;
  std::unique_ptr<PrefixCache> cache;
};

TEST(TextRecord, EachTextOfARunIsARecordOfItsTokens) {
  KeptSession kept;
  GenerateOptions options;
  options.max_tokens = 5;
  const auto results = kept.session.run({"ab ", "ba"}, options);
  const auto texts = kept.texts();
  ASSERT_EQ(texts.size(), 2u);
  for (const Generation& result : results) {
    // All but the last choice was fed.
    std::vector<int32_t> tokens = result.prompt_ids;
    tokens.insert(tokens.end(), result.ids.begin(), result.ids.end() - 1);
    const RecordName name = text_name(kept.cache->scope(), tokens);
    EXPECT_EQ(name.name.size(), 16u);
    const KnownRecord known = kept.cache->record(name).value();
    EXPECT_EQ(known.tokens, tokens);
    const TextFacts facts = facts_of(known.body);
    EXPECT_EQ(facts.model, "tiny.gguf");
    EXPECT_EQ(facts.made_ns, kept.cache->clock().wall_ns());
    EXPECT_EQ(
        facts.line,
        first_line_of(kept.session.loaded.source.tokenizer, tokens));
  }
}

TEST(TextRecord, NamesFollowFromScopeAndTokensAlone) {
  using Fields = std::vector<Signature::Field>;
  const Scope one(Signature(Fields{{"weights", "a"}}));
  const Scope other(Signature(Fields{{"weights", "b"}}));
  const std::vector<int32_t> tokens{1, 2, 3};
  const std::vector<int32_t> more{1, 2, 3, 4};
  EXPECT_EQ(text_name(one, tokens), text_name(one, tokens));
  EXPECT_NE(text_name(one, tokens), text_name(other, tokens));
  EXPECT_NE(text_name(one, tokens), text_name(one, more));
  // Names stay: SHA-256 over the scope's text and 01000000 02000000 03000000.
  EXPECT_EQ(text_name(Scope(Signature()), tokens).name, "ef2bd0387465c151");
}

TEST(TextRecord, FirstLinesAreWholeCharactersOfOneLine) {
  EXPECT_EQ(first_line("\n \n  Hello there \nmore"), "Hello there");
  EXPECT_EQ(first_line("one\rtwo"), "one");
  EXPECT_EQ(first_line(""), "");
  EXPECT_EQ(first_line(" \n\t"), "");
  EXPECT_EQ(first_line("a\u00e9\u00e9", 4), "a\u00e9"); // 1 + 2 + 2 bytes
  EXPECT_EQ(first_line("a\u00e9\u00e9", 5), "a\u00e9\u00e9");
  EXPECT_EQ(first_line("\U0001f600", 3), "");
  EXPECT_EQ(first_line("ab cd", 3), "ab"); // no blank at the cut
}

TEST(TextRecord, FactsThatAreMissingOrOfLaterVersionsAreEmpty) {
  RecordBody body;
  EXPECT_EQ(facts_of(body), TextFacts());
  set_facts(body, {.model = "m", .line = "l", .made_ns = -5});
  EXPECT_EQ(
      facts_of(body), (TextFacts{.model = "m", .line = "l", .made_ns = -5}));
  body.set("model", {.version = 2, .bytes = "m"});
  body.set("made", {.version = 1, .bytes = "short"});
  EXPECT_EQ(facts_of(body), (TextFacts{.model = "", .line = "l"}));
}

} // namespace
} // namespace holdfast
