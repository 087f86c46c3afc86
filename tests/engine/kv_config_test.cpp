// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/kv_config.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/code_of.h"

namespace holdfast {
namespace {

KvChoice choice_of(std::string_view text) {
  return parse_kv_choice(text).value();
}

KvPolicy policy_of(std::string_view text) {
  return parse_kv_config(text, choice_of("bf16")).value();
}

TEST(KvConfig, ReadsADefaultGroupsAndLayers) {
  const KvPolicy policy = policy_of(R"({
    "default": "q8@128",
    "groups": {"sliding": "bf16", "full": "q4/t3"},
    "layers": {"0": "f32", "3-5": "t4@never"}
  })");
  EXPECT_EQ(policy.usual, choice_of("q8@128"));
  EXPECT_EQ(policy.groups.size(), 2u);
  EXPECT_EQ(policy.of(1, "full"), choice_of("q4/t3"));
  EXPECT_EQ(policy.of(1, "other"), choice_of("q8@128"));
  EXPECT_EQ(policy.of(0, "full"), choice_of("f32"));
  EXPECT_EQ(policy.layers.size(), 4u);
  EXPECT_EQ(policy.of(5, "sliding"), choice_of("t4@never"));
}

TEST(KvConfig, LeavesWhatItDoesNotSayToTheUsualChoice) {
  const KvPolicy policy = parse_kv_config("{}", choice_of("q6")).value();
  EXPECT_EQ(policy.of(7, "full"), choice_of("q6"));
}

TEST(KvConfig, RefusesAnythingElseNamingThePlace) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "$: expected JSON"},
      {"{\"default\": \"q8\"", "$: expected JSON"},
      {"{} {}", "$: expected JSON"},
      {std::string("{}\0{", 4), "$: expected JSON, got a NUL at byte 2"},
      {R"({"a\u0000b": "q8"})", R"($.a\x00b: expected default)"},
      {R"({"groups": {"a\n": 8}})", R"($.groups.a\x0a: expected a string)"},
      {R"({"default": "q8\u0000"})", R"(got "q8\x00")"},
      {"[]", "$: expected an object, got array"},
      {R"({"defualt": "q8"})", "$.defualt: expected default, groups or layers"},
      {R"({"default": 8})", "$.default: expected a string"},
      {R"({"default": "q9"})", "$.default: [kv] expected KEYS"},
      {R"({"default": "q8", "default": "q4"})", "\"default\" again"},
      {R"({"groups": "q8"})", "$.groups: expected an object, got string"},
      {R"({"groups": {"full": null}})", "$.groups.full: expected a string"},
      {R"({"groups": {"full": "q8@x"}})", "$.groups.full: [kv] expected"},
      {R"({"layers": ["q8"]})", "$.layers: expected an object, got array"},
      {R"({"layers": {"a": "q8"}})", "$.layers.a: expected a layer"},
      {R"({"layers": {"-1": "q8"}})", "$.layers.-1: expected a layer"},
      {R"({"layers": {"5-3": "q8"}})", "$.layers.5-3: expected a layer"},
      {R"({"layers": {"0-4096": "q8"}})", "expected a layer"},
      {R"({"layers": {"1-": "q8"}})", "$.layers.1-: expected a layer"},
      {R"({"layers": {"0-4": "q8", "4": "q4"}})", "expected each layer once"},
      {R"({"layers": {"4": "q8", "04": "q4"}})", "expected each layer once"},
  };
  for (const auto& [text, wanted] : cases) {
    const Status status = parse_kv_config(text, choice_of("bf16")).status();
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << text;
    EXPECT_NE(status.text().find(wanted), std::string::npos) << text << "\n"
                                                             << status.text();
    EXPECT_TRUE(status.text().starts_with("[kv-config] $")) << status.text();
  }
}

TEST(KvConfig, ReadsAFileAndRefusesLargeOrMissingOnes) {
  const std::string path = ::testing::TempDir() + "kv_config_test.json";
  std::ofstream(path) << R"({"default": "t4"})";
  EXPECT_EQ(
      read_kv_config(path, choice_of("bf16")).value().usual, choice_of("t4"));
  std::ofstream(path) << "{}" << std::string(1 << 20, ' ');
  EXPECT_EQ(
      read_kv_config(path, choice_of("bf16")).status().code(),
      ErrorCode::kInvalidArgument);
  std::remove(path.c_str());
  EXPECT_EQ(
      read_kv_config(path, choice_of("bf16")).status().code(),
      ErrorCode::kNotFound);
}

TEST(KvConfig, GivesEachLayerItsPhases) {
  const std::vector<KvLayer> model{
      {"sliding", 64, 64}, {"full", 128, 128}, {"sliding", 64, 64}};
  const KvPolicy policy = policy_of(R"({
    "default": "q8", "groups": {"full": "q4/t3@100"}, "layers": {"2": "t4@inf"}
  })");
  const Precision precision = precision_of(policy, model);
  const auto named = [](const char* name) { return find_codec(name).value(); };
  ASSERT_EQ(precision.of(0).size(), 1u);
  EXPECT_EQ(precision.of(0)[0].keys, named("q8"));
  ASSERT_EQ(precision.of(1).size(), 2u);
  EXPECT_EQ(precision.of(1)[0].values, named("bf16"));
  EXPECT_EQ(precision.of(1)[1].keys, named("q4"));
  EXPECT_EQ(precision.of(1)[1].values, named("t3"));
  EXPECT_EQ(precision.of(1)[1].start, Position(100));
  ASSERT_EQ(precision.of(2).size(), 1u);
  EXPECT_EQ(precision.of(2)[0].keys, named("bf16"));
  EXPECT_EQ(
      code_of([&] { precision_of(policy, std::span(model).first(2)); }),
      ErrorCode::kInvalidArgument);
}

// A layer that reads a donor's state, or a recurrent one, stores none.
TEST(KvConfig, GivesNoPhasesToLayersThatStoreNothing) {
  const std::vector<KvLayer> model{
      {"sliding", 64, 64}, {"full", 64, 64}, {"sliding"}, {"recurrent"}};
  const KvPolicy policy = policy_of(R"({"groups": {"sliding": "q4"}})");
  const Precision precision = precision_of(policy, model);
  EXPECT_EQ(precision.layers.size(), 1u);
  EXPECT_EQ(precision.of(0)[0].keys, find_codec("q4").value());
  for (const char* wrong :
       {R"({"layers": {"2": "q4"}})",
        R"({"layers": {"1-3": "q4"}})",
        R"({"groups": {"recurrent": "q4"}})"}) {
    EXPECT_EQ(
        code_of([&] { precision_of(policy_of(wrong), model); }),
        ErrorCode::kInvalidArgument)
        << wrong;
  }
}

} // namespace
} // namespace holdfast
