// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Expressions.

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_compare.h"
#include "holdfast/formats/jinja_filters.h"
#include "holdfast/formats/jinja_operators.h"
#include "holdfast/formats/jinja_print.h"
#include "holdfast/formats/jinja_render.h"
#include "holdfast/formats/jinja_subscript.h"

namespace holdfast::jinja {

Value Render::evaluate(const Expression& node) {
  const Allowance::Level level(allowance_);
  allowance_.step();
  line_ = node.line;
  switch (node.kind) {
    case ExpressionKind::kConstant:
      return node.value;
    case ExpressionKind::kName:
      return name(node);
    case ExpressionKind::kList:
    case ExpressionKind::kTuple:
    case ExpressionKind::kDict:
      return container(node);
    case ExpressionKind::kAttribute:
    case ExpressionKind::kItem:
    case ExpressionKind::kSlice:
      return part(node);
    case ExpressionKind::kCall:
      return call(node);
    case ExpressionKind::kFilter:
      return filtered(node, evaluate(*node.children[0]));
    case ExpressionKind::kTest: {
      const Value value = evaluate(*node.children[0]);
      return apply_test(node.name, value, arguments(node), allowance_);
    }
    case ExpressionKind::kCompare:
      return comparison(node);
    case ExpressionKind::kChoice:
      return choice(node);
    default:
      return operation(node);
  }
}

Value Render::name(const Expression& node) {
  allowance_.step(scope_->names.size() / 16);
  if (const Value* found = scope_->find(node.name)) {
    return *found;
  }
  if (macros_ > 0 &&
      (node.name == "caller" || node.name == "varargs" ||
       node.name == "kwargs")) {
    throw Error(
        ErrorCode::kUnsupported,
        "expected a macro without '" + node.name + "', got one");
  }
  return Value::undefined("'" + node.name + "' undefined");
}

Value Render::operation(const Expression& node) {
  const auto child = [&](size_t i) { return evaluate(*node.children[i]); };
  switch (node.kind) {
    case ExpressionKind::kNot:
      return !child(0).truth();
    case ExpressionKind::kAnd: {
      Value left = child(0);
      return left.truth() ? child(1) : left;
    }
    case ExpressionKind::kOr: {
      Value left = child(0);
      return left.truth() ? left : child(1);
    }
    case ExpressionKind::kNegative:
      return negative(child(0));
    case ExpressionKind::kPositive:
      return positive(child(0));
    case ExpressionKind::kBinary: {
      const Value left = child(0);
      const Value right = child(1);
      return binary(node.name, left, right, allowance_);
    }
    default: { // kConcat
      std::string text;
      for (size_t i = 0; i < node.children.size(); ++i) {
        text += to_text(child(i), allowance_);
      }
      return Value(std::move(text));
    }
  }
}

Value Render::container(const Expression& node) {
  std::vector<Value> items;
  allowance_.make(kItemBytes * node.children.size());
  for (const ExpressionPtr& child : node.children) {
    items.push_back(evaluate(*child));
  }
  if (node.kind != ExpressionKind::kDict) {
    return Value::sequence(
        node.kind == ExpressionKind::kList ? SequenceKind::kList
                                           : SequenceKind::kTuple,
        std::move(items));
  }
  std::vector<std::pair<Value, Value>> pairs;
  for (size_t i = 0; i < items.size(); i += 2) {
    pairs.emplace_back(std::move(items[i]), std::move(items[i + 1]));
  }
  // Each key is compared with those before it.
  allowance_.step(pairs.size() * pairs.size() / 8);
  return Value::dict(std::move(pairs));
}

Value Render::part(const Expression& node) {
  const Value value = evaluate(*node.children[0]);
  if (node.kind == ExpressionKind::kAttribute) {
    line_ = node.line;
    return attribute(value, node.name, allowance_);
  }
  if (node.kind == ExpressionKind::kItem) {
    const Value key = evaluate(*node.children[1]);
    line_ = node.line;
    return item(value, key, allowance_);
  }
  Value bounds[3];
  const Value* given[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    if (node.children[i + 1]) {
      bounds[i] = evaluate(*node.children[i + 1]);
      given[i] = &bounds[i];
    }
  }
  return slice(value, {given[0], given[1], given[2]}, allowance_);
}

Arguments Render::arguments(const Expression& node) {
  Arguments result;
  for (size_t i = 1; i < node.children.size(); ++i) {
    result.positional.push_back(evaluate(*node.children[i]));
  }
  for (const auto& [name, value] : node.named) {
    result.named.emplace_back(name, evaluate(*value));
  }
  return result;
}

Value Render::call(const Expression& node) {
  const Value callee = evaluate(*node.children[0]);
  const Arguments given = arguments(node);
  line_ = node.line;
  if (!callee.is(Kind::kCallable)) {
    refuse("something to call", callee);
  }
  return callee.callable().call(given, allowance_);
}

Value Render::comparison(const Expression& node) {
  Value left = evaluate(*node.children[0]);
  for (size_t i = 0; i < node.operators.size(); ++i) {
    Value right = evaluate(*node.children[i + 1]);
    if (!compare(node.operators[i], left, right, allowance_)) {
      return false;
    }
    left = std::move(right);
  }
  return true;
}

Value Render::choice(const Expression& node) {
  if (evaluate(*node.children[1]).truth()) {
    return evaluate(*node.children[0]);
  }
  return node.children[2]
      ? evaluate(*node.children[2])
      : Value::undefined("an `if` without `else` that did not hold");
}

Value Render::filtered(const Expression& node, const Value& value) {
  const Arguments given = arguments(node);
  line_ = node.line;
  return apply_filter(node.name, value, given, allowance_);
}

Value Render::chained(const Expression& node, const Value& text) {
  const Allowance::Level level(allowance_);
  const ExpressionPtr& inner = node.children[0];
  return filtered(node, inner ? chained(*inner, text) : text);
}

} // namespace holdfast::jinja
