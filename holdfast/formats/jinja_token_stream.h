// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tokens in turn, for the two parsers. One thread.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/formats/jinja_lexer.h"

namespace holdfast::jinja {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens)
      : tokens_(std::move(tokens)) {}

  const Token& peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() {
    const Token& token = peek();
    at_ = std::min(at_ + 1, tokens_.size() - 1);
    return token;
  }
  int line() const {
    return peek().line;
  }

  bool at(TokenType type) const {
    return peek().type == type;
  }
  bool at_operator(std::string_view text) const {
    return peek().is(TokenType::kOperator, text);
  }
  bool at_name(std::string_view text) const {
    return peek().is(TokenType::kName, text);
  }
  bool skip_operator(std::string_view text) {
    const bool found = at_operator(text);
    at_ += found ? 1 : 0;
    return found;
  }
  bool skip_name(std::string_view text) {
    const bool found = at_name(text);
    at_ += found ? 1 : 0;
    return found;
  }

  void expect_operator(std::string_view text) {
    if (!skip_operator(text)) {
      unexpected(quoted(text));
    }
  }
  void expect_name(std::string_view text) {
    if (!skip_name(text)) {
      unexpected(quoted(text));
    }
  }
  void expect(TokenType type, const std::string& what) {
    if (!at(type)) {
      unexpected(what);
    }
    next();
  }
  std::string name(const std::string& what) {
    if (!at(TokenType::kName)) {
      unexpected(what);
    }
    return next().text;
  }

  [[noreturn]] void unexpected(const std::string& wanted) const {
    refuse_syntax(line(), "expected " + wanted + ", got " + describe());
  }

 private:
  static std::string quoted(std::string_view text) {
    std::string result(1, '\'');
    result += text;
    result += '\'';
    return result;
  }
  std::string describe() const {
    const Token& token = peek();
    switch (token.type) {
      case TokenType::kEnd:
        return "the end of the template";
      case TokenType::kData:
        return "text";
      case TokenType::kBlockEnd:
        return "'%}'";
      case TokenType::kVariableEnd:
        return "'}}'";
      case TokenType::kBlockBegin:
        return "'{%'";
      case TokenType::kVariableBegin:
        return "'{{'";
      case TokenType::kInteger:
      case TokenType::kFloat:
        return "a number";
      case TokenType::kText:
        return "a quoted text";
      default:
        return "'" + token.text + "'";
    }
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
};

} // namespace holdfast::jinja
