// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Templates that would not end, or not fit: each ends in a typed error.

#include <gtest/gtest.h>

#include "tests/formats/chat_template_support.h"

namespace holdfast::test {
namespace {

TEST(HostileTemplate, EndsWhereItsStepsDo) {
  EXPECT_EQ(
      code_of_template(
          "{% for a in range(99999) %}{% for b in range(99999) %}"
          "{% endfor %}{% endfor %}",
          {.steps = 1'000'000}),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(
      code_of_template("{{ 1 ** 1000000000000 }}", {.steps = 1'000'000}),
      ErrorCode::kOutOfBudget);
}

TEST(HostileTemplate, EndsWhereItsBytesDo) {
  EXPECT_EQ(
      code_of_template("{{ 'a' * 1000000000000 }}"), ErrorCode::kOutOfBudget);
  EXPECT_EQ(
      code_of_template("{{ [1] * 1000000000000 }}"), ErrorCode::kOutOfBudget);
  EXPECT_EQ(
      code_of_template("{{ '-'.ljust(1000000000000) }}"),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(
      code_of_template("{{ [1]|tojson(indent=1000000000000) }}"),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(
      code_of_template("{{ range(1000000000)|list }}"),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(
      code_of_template(
          "{% set n = namespace(s='aaaaaaaa') %}{% for a in range(99) %}"
          "{% set n.s = n.s + n.s %}{% endfor %}"),
      ErrorCode::kOutOfBudget);
}

TEST(HostileTemplate, EndsWhereItNestsTooDeep) {
  const auto repeated = [](const std::string& text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) {
      result += text;
    }
    return result;
  };
  const std::string many = repeated("(", 5000) + "1" + repeated(")", 5000);
  EXPECT_EQ(code_of_template("{{ " + many + " }}"), ErrorCode::kUnsupported);
  EXPECT_EQ(
      code_of_template("{{ 1" + repeated(" + 1", 5000) + " }}"),
      ErrorCode::kUnsupported);
  EXPECT_EQ(
      code_of_template("{{ " + repeated("not ", 5000) + "1 }}"),
      ErrorCode::kUnsupported);
  EXPECT_EQ(
      code_of_template("{{ " + repeated("-", 5000) + "1 }}"),
      ErrorCode::kUnsupported);
  EXPECT_EQ(
      code_of_template("{{ s" + repeated("|trim", 5000) + " }}"),
      ErrorCode::kUnsupported);
  EXPECT_EQ(
      code_of_template(
          repeated("{% if i %}", 5000) + repeated("{% endif %}", 5000)),
      ErrorCode::kUnsupported);
  EXPECT_EQ(
      code_of_template(
          "{% macro m(x) %}{{ m(x + 1) }}{% endmacro %}{{ m(0) }}"),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(
      code_of_template("{% set " + repeated("(", 5000) + "a"),
      ErrorCode::kCorrupt); // no place to set: the first bracket ends it
}

TEST(HostileTemplate, MakesNoValueThatIsTooDeepOrTooWide) {
  EXPECT_EQ(
      code_of_template("{% set n = namespace(v=[]) %}{% for a in range(9999) %}"
                       "{% set n.v = [n.v] %}{% endfor %}"),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(
      code_of_template("{% set n = namespace(v=[]) %}{% for a in range(9999) %}"
                       "{% set n.v = [n.v].index %}{% endfor %}"),
      ErrorCode::kOutOfBudget);
  // Shared parts count each time they would be walked.
  EXPECT_EQ(
      code_of_template(
          "{% set n = namespace(v=[1], w=[1]) %}{% for a in range(60) %}"
          "{% set n.v = [n.v, n.v] %}{% set n.w = [n.w, n.w] %}{% endfor %}"
          "{{ n.v == n.w }}"),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(
      code_of_template("{% set n = namespace(v=[1]) %}{% for a in range(60) %}"
                       "{% set n.v = [n.v, n.v] %}{% endfor %}{{ n.v }}"),
      ErrorCode::kOutOfBudget);
}

TEST(HostileTemplate, ReachesNothingPrivate) {
  EXPECT_EQ(text_of("{{ s.__class__ is defined }}"), "False");
  EXPECT_EQ(
      code_of_template("{{ s.__class__.__mro__ }}"),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code_of_template("{{ '{0.__class__}'.format(i) }}"),
      ErrorCode::kUnsupported);
  EXPECT_EQ(code_of_template("{{ range }}"), ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast::test
