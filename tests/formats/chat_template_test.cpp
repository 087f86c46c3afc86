// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What templates render: the expected texts are jinja2's
// (tests/oracle/template_oracle.py compares many more).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/formats/chat_template_support.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

TEST(ChatTemplate, RendersAConversation) {
  const auto chat = ChatTemplate::parse(
      "{{ bos_token }}{% for m in messages %}\n"
      "<{{ m.role }}>{{ m['content'] | trim }}</>\n"
      "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}");
  const ChatInputs inputs{
      .messages = {{"user", " hi "}, {"assistant", "yes"}},
      .add_generation_prompt = true,
      .bos_token = "<s>",
      .eos_token = "</s>"};
  EXPECT_EQ(
      chat.value().render(inputs, std::tm{}).value(),
      "<s><user>hi</>\n<assistant>yes</>\n<assistant>");
}

TEST(ChatTemplate, TrimsWhiteSpaceAroundTagsAsTransformersSetsIt) {
  EXPECT_EQ(text_of("a\n  {% if i %}\nb\n  {% endif %}\nc\n"), "a\nb\nc");
  EXPECT_EQ(text_of("a \n {{- i -}} \n b"), "a7b");
  EXPECT_EQ(text_of("a\n  {%+ if i +%}\nb{% endif %}"), "a\n  \nb");
  EXPECT_EQ(text_of("a\n {# c #}\nb"), "a\nb");
  EXPECT_EQ(text_of("{% raw %}{{ i }}{% endraw %}\nb"), "{{ i }}b");
  EXPECT_EQ(text_of("a\r\nb\rc"), "a\nb\nc");
}

TEST(ChatTemplate, PrintsValuesAsPythonDoes) {
  EXPECT_EQ(
      text_of("{{ l }} {{ d }} {{ (1,) }} {{ 1e16 }} {{ 1.0 }} {{ 1e-05 }}"),
      "[3, 1, 'a', None] {'a': 1, 'items': [1]} (1,) 1e+16 1.0 1e-05");
  EXPECT_EQ(
      text_of("{{ [\"it's\", 'é\\u200b\\n'] }}"), "[\"it's\", 'é\\u200b\\n']");
  EXPECT_EQ(text_of("{{ true }}{{ none }}{{ nothing }}"), "TrueNone");
  EXPECT_EQ(
      text_of("{{ {'k': [1, 2.5, none, true, 'é\"']} | tojson }}"),
      "{\"k\": [1, 2.5, null, true, \"é\\\"\"]}");
  EXPECT_EQ(
      text_of("{{ {'k': [1, {}]} | tojson(indent=2) }}"),
      "{\n  \"k\": [\n    1,\n    {}\n  ]\n}");
}

TEST(ChatTemplate, EscapesWhatIsAddedToSafeText) {
  EXPECT_EQ(
      text_of("{{ '<' + ('{\"'|safe) + '&' }} {{ ('<'|safe) + ('>'|safe) }} "
              "{{ '\\'' + ('x'|safe) }} {{ '<' ~ ('>'|safe) }}"),
      "&lt;{\"&amp; <> &#39;x <>");
}

TEST(ChatTemplate, FillsFieldsThatAreNamedOrCountedAlone) {
  EXPECT_EQ(
      text_of("{{ '<{}|{}>{{}}'.format(i, l) }} {{ '{1}{0}{k}'.format(1, "
              "none, k=2.5) }} {{ '{}'.format(nothing) }}"),
      "<7|[3, 1, 'a', None]>{} None12.5 ");
  for (const char* text :
       {"{{ '{}'.format() }}",
        "{{ '{k}'.format(1) }}",
        "{{ '{'.format(1) }}",
        "{{ '}'.format(1) }}",
        "{{ '{}{0}'.format(1) }}",
        "{{ '{99999999999999999999}'.format(1) }}"}) {
    EXPECT_EQ(code_of_template(text), ErrorCode::kInvalidArgument) << text;
  }
  for (const char* text :
       {"{{ '{:>5}'.format(1) }}",
        "{{ '{0.real}'.format(1) }}",
        "{{ '{!r}'.format(1) }}"}) {
    EXPECT_EQ(code_of_template(text), ErrorCode::kUnsupported) << text;
  }
}

TEST(ChatTemplate, CutsTextAtCharacters) {
  EXPECT_EQ(
      text_of("{{ u|length }}{{ u[1] }}{{ u[::-1] }}{{ u[-1:] }}"), "3日😀日é😀");
  EXPECT_EQ(
      text_of("{{ l[1:] }}{{ l[::-2] }}{{ l[9:] }}"),
      "[1, 'a', None][None, 1][]");
}

TEST(ChatTemplate, PrefersAMethodByDotAndAnItemByBrackets) {
  EXPECT_EQ(text_of("{{ d['items'] }}"), "[1]");
  EXPECT_EQ(
      text_of("{% for k, v in d.items() %}{{ k }}{% endfor %}"), "aitems");
  EXPECT_EQ(text_of("{{ d.get('zz', 3) }}{{ d.zz is defined }}"), "3False");
  EXPECT_EQ(text_of("{{ l.append is defined }}"), "False");
}

TEST(ChatTemplate, KeepsAssignmentsInTheirScope) {
  EXPECT_EQ(
      text_of(
          "{% set v = 1 %}{% for q in l %}{% set v = q %}{% endfor %}{{ v }}"),
      "1");
  EXPECT_EQ(text_of("{% if i %}{% set v = 2 %}{% endif %}{{ v }}"), "2");
  EXPECT_EQ(
      text_of(
          "{% set n = namespace(v=0) %}{% for q in l %}{% set n.v = n.v + 1 %}"
          "{% endfor %}{{ n.v }}"),
      "4");
  EXPECT_EQ(
      text_of(
          "{% macro m(a, b=i) %}{% set i = 9 %}{{ a ~ b ~ i }}{% endmacro %}"
          "{{ m(1) }}{{ m(1, b=2) }}{{ i }}"),
      "1791297");
}

TEST(ChatTemplate, KnowsTheLoop) {
  EXPECT_EQ(
      text_of("{% for q in s %}{{ loop.index0 }}{{ loop.previtem }}{{ q }}"
              "{{ ',' if not loop.last }}{% endfor %}"),
      "0a,1ab,2bc");
  EXPECT_EQ(
      text_of("{% for q in l if q is string %}{{ loop.length }}{% endfor %}"),
      "1");
  EXPECT_EQ(
      text_of("{% for q in range(9) %}{% if q == 1 %}{% continue %}{% endif %}"
              "{% if q == 3 %}{% break %}{% endif %}{{ q }}{% endfor %}"),
      "02");
  EXPECT_EQ(text_of("{% for q in [] %}{% else %}none{% endfor %}"), "none");
}

TEST(ChatTemplate, TellsTheTimeItIsGiven) {
  EXPECT_EQ(text_of("{{ strftime_now('%d %b %Y') }}"), "03 Feb 2026");
}

TEST(ChatTemplate, SaysWhereAndWhyItRefuses) {
  EXPECT_EQ(
      text_of("a\n{{ raise_exception('roles must alternate') }}"),
      "error: [template] line 2: expected a conversation that the template "
      "takes, got: roles must alternate");
  EXPECT_EQ(
      text_of("{{ nothing.there }}"),
      "error: [template] line 1: expected something defined with 'there', got "
      "'nothing' undefined");
  EXPECT_EQ(code_of_template("{% if %}"), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of_template("{% if i %}"), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of_template("{{ i "), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of_template("{{ i) }}"), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of_template("{{ 'a }}"), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of_template("{# a"), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of_template("\xff"), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of_template("{{ i + s }}"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of_template("{% include 'x' %}"), ErrorCode::kUnsupported);
  EXPECT_EQ(code_of_template("{{ i|urlize }}"), ErrorCode::kUnsupported);
  EXPECT_EQ(code_of_template("{{ u|upper }}"), ErrorCode::kUnsupported);
  EXPECT_EQ(
      code_of_template("{{ 9223372036854775807 + 1 }}"),
      ErrorCode::kUnsupported);
}

TEST(ChatTemplate, RefusesVariablesThatAreNoText) {
  const auto result = rendered("{{ v }}", {}, {{"v", "\xff"}});
  EXPECT_EQ(result.status().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(result.status().text(), HasSubstr("'v'"));
}

} // namespace
} // namespace holdfast::test
