// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The grammar of expressions, with jinja2's precedences: `if else`, or, and,
// not, comparisons, + -, ~, * / // %, **, sign, then . [] () | and is. Reads
// from a stream that outlives it. One thread.

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/formats/jinja_syntax.h"
#include "holdfast/formats/jinja_token_stream.h"

namespace holdfast::jinja {

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  ExpressionPtr expression();
  /// Without `a if b else c`, as where a statement's own `if` may follow.
  ExpressionPtr unconditional();
  /// One expression, or a tuple where commas follow.
  ExpressionPtr tuple(bool conditional = true);
  /// `name(args) | name(args)` over a null child.
  ExpressionPtr filter_chain();
  Target target();
  /// With tuples, as `a, b`.
  Target targets();

 private:
  /// Bounds the parser's own recursion.
  class Level {
   public:
    explicit Level(ExpressionParser& parser) : parser_(parser) {
      if (parser_.level_ >= kMostNesting) {
        refuse_unsupported(
            parser_.tokens_.line(),
            "expected expressions nested at most " +
                std::to_string(kMostNesting) + " deep, got one more");
      }
      ++parser_.level_;
    }
    ~Level() {
      --parser_.level_;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    ExpressionParser& parser_;
  };

  ExpressionPtr either();
  ExpressionPtr both();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool filtered);
  ExpressionPtr primary();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr postfix(ExpressionPtr node);
  ExpressionPtr filters(ExpressionPtr node);
  ExpressionPtr filter(ExpressionPtr node);
  ExpressionPtr test(ExpressionPtr node);
  ExpressionPtr attribute(ExpressionPtr node);
  ExpressionPtr subscript(ExpressionPtr node);
  ExpressionPtr call(ExpressionPtr node);
  void arguments(Expression& to);
  ExpressionPtr binary(
      ExpressionPtr (ExpressionParser::*part)(),
      std::initializer_list<std::string_view> operators);

  TokenStream& tokens_;
  int level_ = 0;
};

} // namespace holdfast::jinja
