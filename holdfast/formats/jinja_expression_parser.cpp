// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_expression_parser.h"

#include <algorithm>

namespace holdfast::jinja {

namespace {

using Node = ExpressionKind;
using Made = std::unique_ptr<Expression>;

Made make(Node kind, int line) {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->line = line;
  return node;
}

ExpressionPtr make_pair(
    Node kind,
    std::string name,
    ExpressionPtr left,
    ExpressionPtr right) {
  Made node = make(kind, left->line);
  node->name = std::move(name);
  adopt(*node, std::move(left));
  adopt(*node, std::move(right));
  return node;
}

} // namespace

ExpressionPtr ExpressionParser::expression() {
  const Level level(*this);
  ExpressionPtr node = either();
  while (tokens_.at_name("if")) {
    Made choice = make(Node::kChoice, tokens_.next().line);
    adopt(*choice, std::move(node));
    adopt(*choice, either());
    adopt(*choice, tokens_.skip_name("else") ? expression() : nullptr);
    node = std::move(choice);
  }
  return node;
}

ExpressionPtr ExpressionParser::unconditional() {
  return either();
}

ExpressionPtr ExpressionParser::tuple(bool conditional) {
  const auto one = [&] { return conditional ? expression() : either(); };
  const auto ends = [&] {
    return tokens_.at(TokenType::kVariableEnd) ||
        tokens_.at(TokenType::kBlockEnd) || tokens_.at_operator(")") ||
        tokens_.at_name("recursive");
  };
  ExpressionPtr first = one();
  if (!tokens_.at_operator(",")) {
    return first;
  }
  Made node = make(Node::kTuple, first->line);
  adopt(*node, std::move(first));
  while (tokens_.skip_operator(",") && !ends()) {
    adopt(*node, one());
  }
  return node;
}

ExpressionPtr ExpressionParser::either() {
  ExpressionPtr node = both();
  while (tokens_.skip_name("or")) {
    node = make_pair(Node::kOr, "", std::move(node), both());
  }
  return node;
}

ExpressionPtr ExpressionParser::both() {
  ExpressionPtr node = negation();
  while (tokens_.skip_name("and")) {
    node = make_pair(Node::kAnd, "", std::move(node), negation());
  }
  return node;
}

ExpressionPtr ExpressionParser::negation() {
  if (!tokens_.at_name("not")) {
    return comparison();
  }
  const Level level(*this);
  Made node = make(Node::kNot, tokens_.next().line);
  adopt(*node, negation());
  return node;
}

ExpressionPtr ExpressionParser::comparison() {
  ExpressionPtr first = sum();
  Made node = make(Node::kCompare, first->line);
  adopt(*node, std::move(first));
  for (;;) {
    const Token& token = tokens_.peek();
    if (token.type == TokenType::kOperator &&
        (token.text == "==" || token.text == "!=" || token.text == "<" ||
         token.text == "<=" || token.text == ">" || token.text == ">=")) {
      node->operators.push_back(tokens_.next().text);
    } else if (tokens_.skip_name("in")) {
      node->operators.emplace_back("in");
    } else if (
        tokens_.at_name("not") && tokens_.peek(1).is(TokenType::kName, "in")) {
      tokens_.next();
      tokens_.next();
      node->operators.emplace_back("not in");
    } else {
      break;
    }
    adopt(*node, sum());
  }
  return node->operators.empty() ? std::move(node->children[0])
                                 : ExpressionPtr(std::move(node));
}

ExpressionPtr ExpressionParser::binary(
    ExpressionPtr (ExpressionParser::*part)(),
    std::initializer_list<std::string_view> operators) {
  ExpressionPtr node = (this->*part)();
  while (tokens_.at(TokenType::kOperator) &&
         std::ranges::find(operators, tokens_.peek().text) != operators.end()) {
    std::string name = tokens_.next().text;
    node = make_pair(
        Node::kBinary, std::move(name), std::move(node), (this->*part)());
  }
  return node;
}

ExpressionPtr ExpressionParser::sum() {
  return binary(&ExpressionParser::concatenation, {"+", "-"});
}

ExpressionPtr ExpressionParser::concatenation() {
  ExpressionPtr first = product();
  if (!tokens_.at_operator("~")) {
    return first;
  }
  Made node = make(Node::kConcat, first->line);
  adopt(*node, std::move(first));
  while (tokens_.skip_operator("~")) {
    adopt(*node, product());
  }
  return node;
}

ExpressionPtr ExpressionParser::product() {
  return binary(&ExpressionParser::power, {"*", "/", "//", "%"});
}

ExpressionPtr ExpressionParser::power() {
  ExpressionPtr node = unary(true);
  while (tokens_.skip_operator("**")) {
    node = make_pair(Node::kBinary, "**", std::move(node), unary(true));
  }
  return node;
}

ExpressionPtr ExpressionParser::unary(bool filtered) {
  const bool negative = tokens_.at_operator("-");
  ExpressionPtr node;
  if (negative || tokens_.at_operator("+")) {
    const Level level(*this);
    Made sign =
        make(negative ? Node::kNegative : Node::kPositive, tokens_.next().line);
    adopt(*sign, unary(false));
    node = std::move(sign);
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return filtered ? filters(std::move(node)) : std::move(node);
}

ExpressionPtr ExpressionParser::primary() {
  const int line = tokens_.line();
  Made node = make(Node::kConstant, line);
  switch (tokens_.peek().type) {
    case TokenType::kName: {
      const std::string name = tokens_.next().text;
      if (name == "true" || name == "True" || name == "false" ||
          name == "False") {
        node->value = Value(name[0] == 't' || name[0] == 'T');
      } else if (name != "none" && name != "None") {
        node->kind = Node::kName;
        node->name = name;
      }
      return node;
    }
    case TokenType::kText: {
      std::string text;
      while (tokens_.at(TokenType::kText)) {
        text += tokens_.next().text; // neighbours are one
      }
      node->value = Value(std::move(text));
      return node;
    }
    case TokenType::kInteger:
      node->value = Value(tokens_.next().integer);
      return node;
    case TokenType::kFloat:
      node->value = Value(tokens_.next().number);
      return node;
    default:
      break;
  }
  if (tokens_.skip_operator("(")) {
    ExpressionPtr inner =
        tokens_.at_operator(")") ? make(Node::kTuple, line) : tuple();
    tokens_.expect_operator(")");
    return inner;
  }
  if (tokens_.at_operator("[")) {
    return list();
  }
  if (tokens_.at_operator("{")) {
    return dict();
  }
  tokens_.unexpected("an expression");
}

ExpressionPtr ExpressionParser::list() {
  Made node = make(Node::kList, tokens_.next().line);
  while (!tokens_.at_operator("]")) {
    adopt(*node, expression());
    if (!tokens_.skip_operator(",")) {
      break;
    }
  }
  tokens_.expect_operator("]");
  return node;
}

ExpressionPtr ExpressionParser::dict() {
  Made node = make(Node::kDict, tokens_.next().line);
  while (!tokens_.at_operator("}")) {
    adopt(*node, expression());
    tokens_.expect_operator(":");
    adopt(*node, expression());
    if (!tokens_.skip_operator(",")) {
      break;
    }
  }
  tokens_.expect_operator("}");
  return node;
}

ExpressionPtr ExpressionParser::postfix(ExpressionPtr node) {
  for (;;) {
    if (tokens_.at_operator(".")) {
      node = attribute(std::move(node));
    } else if (tokens_.at_operator("[")) {
      node = subscript(std::move(node));
    } else if (tokens_.at_operator("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr node) {
  for (;;) {
    if (tokens_.skip_operator("|")) {
      node = filter(std::move(node));
    } else if (tokens_.at_name("is")) {
      node = test(std::move(node));
    } else if (tokens_.at_operator("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr ExpressionParser::filter(ExpressionPtr node) {
  Made made = make(Node::kFilter, tokens_.line());
  made->name = tokens_.name("the name of a filter");
  adopt(*made, std::move(node));
  if (tokens_.at_operator("(")) {
    arguments(*made);
  }
  return made;
}

ExpressionPtr ExpressionParser::filter_chain() {
  ExpressionPtr node = filter(nullptr);
  while (tokens_.skip_operator("|")) {
    node = filter(std::move(node));
  }
  return node;
}

ExpressionPtr ExpressionParser::test(ExpressionPtr node) {
  Made made = make(Node::kTest, tokens_.next().line);
  const bool negated = tokens_.skip_name("not");
  made->name = tokens_.name("the name of a test");
  adopt(*made, std::move(node));
  const Token& token = tokens_.peek();
  const bool bare = token.type == TokenType::kText ||
      token.type == TokenType::kInteger || token.type == TokenType::kFloat ||
      tokens_.at_operator("[") || tokens_.at_operator("{") ||
      (token.type == TokenType::kName && token.text != "else" &&
       token.text != "or" && token.text != "and");
  if (tokens_.at_operator("(")) {
    arguments(*made);
  } else if (bare) {
    if (tokens_.at_name("is")) {
      tokens_.unexpected("one test");
    }
    adopt(*made, postfix(primary()));
  }
  if (!negated) {
    return made;
  }
  Made negation = make(Node::kNot, made->line);
  adopt(*negation, std::move(made));
  return negation;
}

} // namespace holdfast::jinja
