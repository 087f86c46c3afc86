// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The grammar of statements.

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "holdfast/formats/jinja_expression_parser.h"
#include "holdfast/formats/jinja_syntax.h"

namespace holdfast::jinja {

namespace {

constexpr size_t kMostSource = size_t{1} << 20;
/// Of statements; below it a render takes a level of evaluation for each.
constexpr int kMostBlocks = 100;

using Node = StatementKind;
using Made = std::unique_ptr<Statement>;

Made make(Node kind, int line) {
  auto node = std::make_unique<Statement>();
  node->kind = kind;
  node->line = line;
  return node;
}

class Parser {
 public:
  explicit Parser(std::string_view source)
      : tokens_(lex(source)), expressions_(tokens_) {}

  Body run() {
    Body body = until({});
    if (!tokens_.at(TokenType::kEnd)) {
      tokens_.unexpected("text or a tag");
    }
    return body;
  }

 private:
  /// Statements up to a tag that begins with one of `ends`, whose "{%" is
  /// passed; or up to the end, where there are none.
  Body until(std::initializer_list<std::string_view> ends) {
    if (++blocks_ > kMostBlocks) {
      refuse_unsupported(
          tokens_.line(),
          "expected tags nested at most " + std::to_string(kMostBlocks) +
              " deep, got one more");
    }
    Body body;
    while (!tokens_.at(TokenType::kEnd)) {
      if (tokens_.at(TokenType::kData)) {
        Made text = make(Node::kText, tokens_.line());
        text->text = tokens_.next().text;
        body.push_back(std::move(text));
      } else if (tokens_.at(TokenType::kVariableBegin)) {
        Made print = make(Node::kPrint, tokens_.next().line);
        print->values.push_back(expressions_.tuple());
        tokens_.expect(TokenType::kVariableEnd, "'}}'");
        body.push_back(std::move(print));
      } else {
        tokens_.expect(TokenType::kBlockBegin, "a tag");
        if (tokens_.at(TokenType::kName) &&
            std::ranges::find(ends, tokens_.peek().text) != ends.end()) {
          --blocks_;
          return body;
        }
        body.push_back(statement());
        tokens_.expect(TokenType::kBlockEnd, "'%}'");
      }
    }
    if (ends.size() > 0) {
      tokens_.unexpected("the tag " + std::string(*(ends.end() - 1)));
    }
    --blocks_;
    return body;
  }

  /// The rest of the opening tag, then the body; the stream stands at the name
  /// that ended it.
  Body body(std::initializer_list<std::string_view> ends) {
    tokens_.skip_operator(":");
    tokens_.expect(TokenType::kBlockEnd, "'%}'");
    return until(ends);
  }
  Body whole_body(std::string_view end) {
    Body result = body({end});
    tokens_.next();
    return result;
  }

  StatementPtr statement() {
    const int line = tokens_.line();
    const std::string name = tokens_.name("the name of a tag");
    if (name == "if") {
      return condition(line);
    }
    if (name == "for") {
      return loop(line);
    }
    if (name == "set") {
      return assignment(line);
    }
    if (name == "macro") {
      return macro(line);
    }
    if (name == "with") {
      return with(line);
    }
    if (name == "print") {
      return print(line);
    }
    if (name == "filter") {
      Made node = make(Node::kFilterBlock, line);
      node->filters = expressions_.filter_chain();
      node->body = whole_body("endfilter");
      return node;
    }
    if (name == "generation") {
      Made node = make(Node::kScope, line);
      node->body = whole_body("endgeneration");
      return node;
    }
    if (name == "break" || name == "continue") {
      if (loops_ == 0) {
        refuse_syntax(line, "expected '" + name + "' in a loop, got none");
      }
      return make(name == "break" ? Node::kBreak : Node::kContinue, line);
    }
    for (const std::string_view known :
         {"block",
          "extends",
          "include",
          "import",
          "from",
          "call",
          "autoescape"}) {
      if (name == known) {
        refuse_unsupported(
            line, "expected no tag '" + name + "', which is not read here");
      }
    }
    refuse_syntax(line, "expected a tag that there is, got '" + name + "'");
  }

  StatementPtr condition(int line) {
    Made node = make(Node::kIf, line);
    for (std::string_view kind = "if"; kind != "endif";) {
      Branch branch;
      if (kind != "else") {
        branch.condition = expressions_.tuple(false);
        branch.body = body({"elif", "else", "endif"});
      } else {
        branch.body = body({"endif"});
      }
      node->branches.push_back(std::move(branch));
      kind = tokens_.next().text;
    }
    return node;
  }

  StatementPtr loop(int line) {
    Made node = make(Node::kFor, line);
    node->target = plain_targets(line);
    tokens_.expect_name("in");
    node->values.push_back(expressions_.tuple(false));
    node->values.push_back(
        tokens_.skip_name("if") ? expressions_.expression() : nullptr);
    if (tokens_.at_name("recursive")) {
      refuse_unsupported(line, "expected no recursive loop, got one");
    }
    ++loops_;
    node->body = body({"else", "endfor"});
    --loops_;
    if (tokens_.next().text == "else") {
      node->otherwise = whole_body("endfor");
    }
    return node;
  }

  Target plain_targets(int line) {
    Target target = expressions_.targets();
    if (!target.attribute.empty()) {
      refuse_syntax(line, "expected a name to assign to, got an attribute");
    }
    return target;
  }

  StatementPtr assignment(int line) {
    Made node = make(Node::kSet, line);
    node->target = expressions_.targets();
    if (tokens_.skip_operator("=")) {
      node->values.push_back(expressions_.tuple());
      return node;
    }
    node->kind = Node::kSetBlock;
    if (tokens_.skip_operator("|")) {
      node->filters = expressions_.filter_chain();
    }
    node->body = whole_body("endset");
    return node;
  }

  /// A body of its own: a `break` in it has no loop. Its variables are those of
  /// the whole template, so it must stand outside of other tags than `if`.
  StatementPtr macro(int line) {
    Made node = make(Node::kMacro, line);
    node->name = tokens_.name("the name of the macro");
    tokens_.expect_operator("(");
    while (!tokens_.at_operator(")")) {
      Parameter parameter;
      parameter.target.name = tokens_.name("the name of a parameter");
      if (tokens_.skip_operator("=")) {
        parameter.value = expressions_.expression();
      } else if (!node->parameters.empty() && node->parameters.back().value) {
        tokens_.unexpected("a default value");
      }
      node->parameters.push_back(std::move(parameter));
      if (!tokens_.skip_operator(",")) {
        break;
      }
    }
    tokens_.expect_operator(")");
    const int loops = std::exchange(loops_, 0);
    node->body = whole_body("endmacro");
    loops_ = loops;
    return node;
  }

  StatementPtr with(int line) {
    Made node = make(Node::kWith, line);
    while (!tokens_.at(TokenType::kBlockEnd)) {
      Parameter parameter;
      parameter.target = expressions_.target();
      tokens_.expect_operator("=");
      parameter.value = expressions_.expression();
      node->parameters.push_back(std::move(parameter));
      if (!tokens_.skip_operator(",")) {
        break;
      }
    }
    node->body = whole_body("endwith");
    return node;
  }

  StatementPtr print(int line) {
    Made node = make(Node::kPrint, line);
    do {
      node->values.push_back(expressions_.expression());
    } while (tokens_.skip_operator(","));
    return node;
  }

  TokenStream tokens_;
  ExpressionParser expressions_;
  int blocks_ = 0;
  int loops_ = 0;
};

} // namespace

Body parse(std::string_view source) {
  if (source.size() > kMostSource) {
    refuse_unsupported(
        1,
        "expected a template of at most " + std::to_string(kMostSource) +
            " bytes, got " + std::to_string(source.size()));
  }
  return Parser(source).run();
}

} // namespace holdfast::jinja
