// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A parsed template: statements over expressions. Nodes know how deep they
// nest; the parser refuses what is deeper than kMostNesting, so that no walk,
// destruction included, is. Immutable after parsing; any thread.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/formats/jinja_value.h"

namespace holdfast::jinja {

inline constexpr int kMostNesting = 200;

enum class ExpressionKind {
  kConstant, // value
  kName, // name
  kList, // children
  kTuple, // children
  kDict, // children: key, value, key, value, ...
  kAttribute, // children[0].name
  kItem, // children[0][children[1]]
  kSlice, // children[0][children[1]:children[2]:children[3]], null: left out
  kCall, // children[0](children[1...], named...)
  kFilter, // children[0] | name(children[1...], named...)
  kTest, // children[0] is name(children[1...], named...)
  kNot,
  kAnd,
  kOr,
  kNegative,
  kPositive,
  kBinary, // name: the operator; children: left, right
  kConcat, // children joined as text
  kCompare, // children[0] operators[0] children[1] operators[1] ...
  kChoice, // children[0] if children[1] else children[2] (null: undefined)
};

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Expression {
  ExpressionKind kind = ExpressionKind::kConstant;
  int line = 1;
  int nesting = 1;
  std::string name;
  Value value;
  std::vector<ExpressionPtr> children;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  std::vector<std::string> operators;
};

/// Appends a child (null: left out). Throws kUnsupported where it nests too
/// deep.
void adopt(Expression& parent, ExpressionPtr child);
/// The same for a named argument.
void adopt(Expression& parent, std::string name, ExpressionPtr child);

/// What `set` and `for` write to: names, an attribute of a namespace, or
/// several of them.
struct Target {
  std::string name;
  std::string attribute; // of the namespace `name`; empty: the name itself
  std::vector<Target> parts; // not empty: these, and no name
};

enum class StatementKind {
  kText, // text
  kPrint, // values
  kSet, // target = values[0]
  kSetBlock, // target = body, through filters (a chain over a null child)
  kIf, // branches in turn; the first whose condition holds
  kFor, // target in values[0] if values[1]; body; otherwise
  kMacro, // name(parameters): body
  kWith, // parameters with their values: body
  kFilterBlock, // filters over body
  kScope, // body (`generation`)
  kBreak,
  kContinue,
};

struct Statement;
using StatementPtr = std::unique_ptr<const Statement>;
using Body = std::vector<StatementPtr>;

struct Branch {
  ExpressionPtr condition; // null: else
  Body body;
};

struct Parameter {
  Target target; // of a macro: a name
  ExpressionPtr value; // of a macro: the default, or null
};

struct Statement {
  StatementKind kind = StatementKind::kText;
  int line = 1;
  std::string name;
  std::string text;
  Target target;
  std::vector<ExpressionPtr> values;
  ExpressionPtr filters;
  std::vector<Branch> branches;
  std::vector<Parameter> parameters;
  Body body;
  Body otherwise;
};

/// Throws Error as lex() does.
Body parse(std::string_view source);

} // namespace holdfast::jinja
