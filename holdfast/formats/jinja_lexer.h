// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A template's source as tokens. White space around tags is settled here, as
// jinja2 does it with trim_blocks and lstrip_blocks: a line's end right after a
// block tag goes, as do blanks before one that begins a line; '-' takes all
// white space on its side, '+' keeps it. Any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::jinja {

enum class TokenType {
  kData, // text outside of tags
  kVariableBegin,
  kVariableEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kText, // a literal, unescaped
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenType type = TokenType::kEnd;
  std::string text; // of kData, kName, kText, kOperator
  int64_t integer = 0;
  double number = 0;
  int line = 1;

  bool is(TokenType wanted, std::string_view value) const {
    return type == wanted && text == value;
  }
};

/// The tokens, kEnd last. Throws Error "[template] line N: ...", kCorrupt where
/// jinja2 finds a syntax error, kUnsupported for what is not read here.
std::vector<Token> lex(std::string_view source);

/// That error.
[[noreturn]] void refuse_syntax(int line, const std::string& text);
[[noreturn]] void refuse_unsupported(int line, const std::string& text);

} // namespace holdfast::jinja
