// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Attributes, subscripts, calls and targets of the expression parser.

#include <algorithm>

#include "holdfast/formats/jinja_expression_parser.h"

namespace holdfast::jinja {

namespace {

using Node = ExpressionKind;
using Made = std::unique_ptr<Expression>;

Made over(Node kind, int line, ExpressionPtr child) {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->line = line;
  adopt(*node, std::move(child));
  return node;
}

} // namespace

ExpressionPtr ExpressionParser::attribute(ExpressionPtr node) {
  const int line = tokens_.next().line;
  if (tokens_.at(TokenType::kInteger)) {
    Made made = over(Node::kItem, line, std::move(node));
    auto index = std::make_unique<Expression>();
    index->line = line;
    index->value = Value(tokens_.next().integer);
    adopt(*made, std::move(index));
    return made;
  }
  Made made = over(Node::kAttribute, line, std::move(node));
  made->name = tokens_.name("a name or a number");
  return made;
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr node) {
  const int line = tokens_.next().line;
  const auto part = [this]() -> ExpressionPtr {
    const bool none = tokens_.at_operator(":") || tokens_.at_operator("]");
    return none ? nullptr : expression();
  };
  if (tokens_.at_operator("]")) {
    tokens_.unexpected("an index");
  }
  ExpressionPtr first = part();
  Made made = over(
      tokens_.at_operator(":") ? Node::kSlice : Node::kItem,
      line,
      std::move(node));
  adopt(*made, std::move(first));
  if (made->kind == Node::kSlice) {
    tokens_.expect_operator(":");
    adopt(*made, part());
    adopt(*made, tokens_.skip_operator(":") ? part() : nullptr);
  }
  if (tokens_.at_operator(",")) {
    refuse_unsupported(line, "expected one index, got several");
  }
  tokens_.expect_operator("]");
  return made;
}

ExpressionPtr ExpressionParser::call(ExpressionPtr node) {
  Made made = over(Node::kCall, tokens_.line(), std::move(node));
  arguments(*made);
  return made;
}

void ExpressionParser::arguments(Expression& to) {
  tokens_.expect_operator("(");
  while (!tokens_.at_operator(")")) {
    if (tokens_.at_operator("*") || tokens_.at_operator("**")) {
      refuse_unsupported(
          tokens_.line(), "expected arguments one by one, got '*'");
    }
    const bool named = tokens_.at(TokenType::kName) &&
        tokens_.peek(1).is(TokenType::kOperator, "=");
    if (named) {
      std::string name = tokens_.next().text;
      tokens_.next();
      adopt(to, std::move(name), expression());
    } else if (!to.named.empty()) {
      tokens_.unexpected("a named argument");
    } else {
      adopt(to, expression());
    }
    if (!tokens_.skip_operator(",")) {
      break;
    }
  }
  tokens_.expect_operator(")");
}

Target ExpressionParser::target() {
  const Level level(*this);
  if (tokens_.skip_operator("(")) {
    Target inner = targets();
    tokens_.expect_operator(")");
    return inner;
  }
  Target made;
  const int line = tokens_.line();
  made.name = tokens_.name("a name");
  constexpr std::string_view kReserved[] = {
      "true", "True", "false", "False", "none", "None"};
  if (std::ranges::find(kReserved, made.name) != std::end(kReserved)) {
    refuse_syntax(line, "expected a name to assign to, got " + made.name);
  }
  if (tokens_.skip_operator(".")) {
    made.attribute = tokens_.name("the name of an attribute");
  }
  return made;
}

Target ExpressionParser::targets() {
  Target first = target();
  if (!tokens_.at_operator(",")) {
    return first;
  }
  Target made;
  made.parts.push_back(std::move(first));
  while (tokens_.skip_operator(",") && tokens_.at(TokenType::kName) &&
         !tokens_.at_name("in")) {
    made.parts.push_back(target());
  }
  return made;
}

} // namespace holdfast::jinja
