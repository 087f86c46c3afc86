// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Statements. Expressions are in jinja_evaluate.cpp, what a template can call
// in jinja_globals.cpp.

#include "holdfast/formats/jinja_render.h"

#include <algorithm>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_print.h"
#include "holdfast/formats/jinja_scope.h"
#include "holdfast/formats/jinja_subscript.h"

namespace holdfast::jinja {

namespace {

[[noreturn]] void refuse_shape(const std::string& text) {
  throw Error(ErrorCode::kInvalidArgument, text);
}

/// `loop` of a turn, over the items of its loop.
void show_turn(Namespace& loop, const std::vector<Value>& items, size_t turn) {
  const auto index = static_cast<int64_t>(turn);
  const auto count = static_cast<int64_t>(items.size());
  loop.set("index", index + 1);
  loop.set("index0", index);
  loop.set("revindex", count - index);
  loop.set("revindex0", count - index - 1);
  loop.set("first", turn == 0);
  loop.set("last", turn + 1 == items.size());
  loop.set("length", count);
  loop.set("depth", 1);
  loop.set("depth0", 0);
  loop.set(
      "previtem",
      turn > 0 ? items[turn - 1] : Value::undefined("no previous item"));
  loop.set(
      "nextitem",
      turn + 1 < items.size() ? items[turn + 1]
                              : Value::undefined("no next item"));
}

} // namespace

Value* Render::Scope::find(std::string_view name) {
  for (Scope* scope = this; scope != nullptr; scope = scope->parent) {
    const auto at = std::ranges::find_if(
        scope->names, [&](const auto& entry) { return entry.first == name; });
    if (at != scope->names.end()) {
      return &at->second;
    }
  }
  return nullptr;
}

void Render::Scope::set(const std::string& name, Value value) {
  const auto at = std::ranges::find_if(
      names, [&](const auto& entry) { return entry.first == name; });
  if (at != names.end()) {
    at->second = std::move(value);
  } else {
    names.emplace_back(name, std::move(value));
  }
}

Render::Render(
    const Body& body,
    Variables variables,
    const std::tm& now,
    const Limits& limits)
    : statements_(body),
      now_(now),
      allowance_(limits),
      root_{&globals_, std::move(variables)} {
  add_globals();
}

std::string Render::run() {
  std::string out;
  out_ = &out;
  body(statements_);
  return out;
}

void Render::write(std::string_view text) {
  allowance_.make(text.size());
  out_->append(text);
}

Render::Flow Render::body(const Body& statements) {
  const Allowance::Level level(allowance_);
  for (const StatementPtr& node : statements) {
    if (const Flow flow = statement(*node); flow != Flow::kNext) {
      return flow;
    }
  }
  return Flow::kNext;
}

Render::Flow Render::statement(const Statement& node) {
  line_ = node.line;
  allowance_.step(1 + scope_->names.size() / 16);
  switch (node.kind) {
    case StatementKind::kText:
      write(node.text);
      break;
    case StatementKind::kPrint:
      for (const ExpressionPtr& value : node.values) {
        out_->append(to_text(evaluate(*value), allowance_));
      }
      break;
    case StatementKind::kSet:
      assign(node.target, evaluate(*node.values[0]));
      break;
    case StatementKind::kSetBlock:
      set_block(node);
      break;
    case StatementKind::kIf:
      return condition(node);
    case StatementKind::kFor:
      return loop(node);
    case StatementKind::kMacro:
      macro(node);
      break;
    case StatementKind::kWith:
      return with(node);
    case StatementKind::kFilterBlock:
      write(to_text(
          chained(*node.filters, Value(captured(node.body))), allowance_));
      break;
    case StatementKind::kScope: {
      Entered entered(*this, scope_);
      return body(node.body);
    }
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Render::Flow Render::condition(const Statement& node) {
  for (const Branch& branch : node.branches) {
    if (!branch.condition || evaluate(*branch.condition).truth()) {
      return body(branch.body);
    }
  }
  return Flow::kNext;
}

/// The items that the loop goes through: those that its condition lets pass.
std::vector<Value> Render::looped(const Statement& node) {
  std::vector<Value> items = iterate(evaluate(*node.values[0]), allowance_);
  if (!node.values[1]) {
    return items;
  }
  std::vector<Value> passed;
  for (Value& item : items) {
    Entered turn(*this, scope_);
    assign(node.target, item);
    if (evaluate(*node.values[1]).truth()) {
      passed.push_back(std::move(item));
    }
  }
  return passed;
}

// As in jinja2, `else` stands for "no turn came to its end": it is rendered too
// where each was left by break or continue.
Render::Flow Render::loop(const Statement& node) {
  const std::vector<Value> items = looped(node);
  bool ended = false; // a turn came to its end
  if (!items.empty()) {
    Namespace* shown = make_namespace();
    add_cycle(*shown);
    for (size_t turn = 0; turn < items.size(); ++turn) {
      Entered entered(*this, scope_);
      show_turn(*shown, items, turn);
      entered.scope().set("loop", Value(shown));
      assign(node.target, items[turn]);
      const Flow flow = body(node.body);
      if (flow == Flow::kBreak) {
        break;
      }
      ended |= flow == Flow::kNext;
    }
  }
  if (ended) {
    return Flow::kNext;
  }
  Entered otherwise(*this, scope_);
  return body(node.otherwise);
}

Render::Flow Render::with(const Statement& node) {
  std::vector<Value> values; // which do not see each other
  for (const Parameter& parameter : node.parameters) {
    values.push_back(evaluate(*parameter.value));
  }
  Entered entered(*this, scope_);
  for (size_t i = 0; i < values.size(); ++i) {
    assign(node.parameters[i].target, values[i]);
  }
  return body(node.body);
}

std::string Render::captured(const Body& statements) {
  Entered entered(*this, scope_);
  return written(statements);
}

std::string Render::written(const Body& statements) {
  std::string text;
  // After an exception nothing is written any more.
  std::string* const outer = std::exchange(out_, &text);
  body(statements);
  out_ = outer;
  return text;
}

void Render::set_block(const Statement& node) {
  const Value text(captured(node.body));
  assign(node.target, node.filters ? chained(*node.filters, text) : text);
}

void Render::macro(const Statement& node) {
  if (scope_ != &root_) {
    throw Error(
        ErrorCode::kUnsupported,
        "expected macros outside of loops and other macros, got '" + node.name +
            "'");
  }
  auto made = std::make_shared<Callable>();
  made->name = node.name;
  made->call = [this, &node](const Arguments& arguments, Allowance&) {
    return call_macro(node, arguments);
  };
  scope_->set(
      node.name, Value(std::shared_ptr<const Callable>(std::move(made))));
}

Value Render::call_macro(const Statement& node, const Arguments& arguments) {
  const auto& given = arguments.positional;
  if (given.size() > node.parameters.size()) {
    refuse_shape(
        "expected at most " + std::to_string(node.parameters.size()) +
        " arguments for the macro '" + node.name + "', got " +
        std::to_string(given.size()));
  }
  Entered entered(*this, &root_);
  Variables named = arguments.named;
  for (size_t i = 0; i < node.parameters.size(); ++i) {
    const auto& [target, other] = node.parameters[i];
    const auto at = std::ranges::find_if(
        named,
        [&name = target.name](const auto& one) { return one.first == name; });
    Value value;
    if (i < given.size()) {
      value = given[i];
    } else if (at != named.end()) {
      value = std::move(at->second);
      named.erase(at);
    } else {
      value = other
          ? evaluate(*other)
          : Value::undefined("parameter '" + target.name + "' not provided");
    }
    entered.scope().set(target.name, std::move(value));
  }
  if (!named.empty()) {
    refuse_shape(
        "expected the arguments of the macro '" + node.name +
        "' once each, got '" + named.front().first + "'");
  }
  ++macros_;
  Value text(written(node.body));
  --macros_;
  return text;
}

void Render::assign(const Target& target, const Value& value) {
  if (!target.parts.empty()) {
    const std::vector<Value> items = iterate(value, allowance_);
    if (items.size() != target.parts.size()) {
      refuse_shape(
          "expected " + std::to_string(target.parts.size()) +
          " values to assign, got " + std::to_string(items.size()));
    }
    for (size_t i = 0; i < items.size(); ++i) {
      assign(target.parts[i], items[i]);
    }
    return;
  }
  if (target.attribute.empty()) {
    scope_->set(target.name, value);
    return;
  }
  Value* space = scope_->find(target.name);
  if (space == nullptr || !space->is(Kind::kNamespace) ||
      space->space()->fixed) {
    refuse(
        "a namespace to set '" + target.attribute + "' of",
        space != nullptr ? *space
                         : Value::undefined("'" + target.name + "' undefined"));
  }
  allowance_.make(kItemBytes);
  space->space()->set(target.attribute, value);
}

} // namespace holdfast::jinja
