// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a parsed template once. Scopes nest as jinja2's do: a loop's turn, a
// macro, `with` and captured text have their own, `if` has none; a macro sees
// the template's variables and no others. One thread.

#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/formats/jinja_allowance.h"
#include "holdfast/formats/jinja_callable.h"
#include "holdfast/formats/jinja_syntax.h"

namespace holdfast::jinja {

using Variables = std::vector<std::pair<std::string, Value>>;

class Render {
 public:
  /// The body outlives it. now: what `strftime_now` tells.
  Render(
      const Body& body,
      Variables variables,
      const std::tm& now,
      const Limits& limits);
  Render(const Render&) = delete;
  Render& operator=(const Render&) = delete;

  /// Once. Throws Error; line() then says where.
  std::string run();
  int line() const {
    return line_;
  }

 private:
  struct Scope {
    Scope* parent = nullptr;
    Variables names = {};

    Value* find(std::string_view name);
    void set(const std::string& name, Value value);
  };
  /// Makes a scope the innermost one for as long as it lives.
  class Entered;

  enum class Flow { kNext, kBreak, kContinue };

  // Statements.
  Flow body(const Body& statements);
  Flow statement(const Statement& node);
  Flow condition(const Statement& node);
  Flow loop(const Statement& node);
  Flow with(const Statement& node);
  void set_block(const Statement& node);
  void macro(const Statement& node);
  Value call_macro(const Statement& node, const Arguments& arguments);
  /// What the statements write, in a scope of their own.
  std::string captured(const Body& statements);
  std::string written(const Body& statements);
  std::vector<Value> looped(const Statement& node);
  void assign(const Target& target, const Value& value);
  void write(std::string_view text);

  // Expressions.
  Value evaluate(const Expression& node);
  Value name(const Expression& node);
  Value operation(const Expression& node);
  Value container(const Expression& node);
  Value part(const Expression& node);
  Value call(const Expression& node);
  Value comparison(const Expression& node);
  Value choice(const Expression& node);
  Value filtered(const Expression& node, const Value& value);
  /// Filters in turn over captured text, which the innermost takes.
  Value chained(const Expression& node, const Value& text);
  Arguments arguments(const Expression& node);

  // What every template can call.
  void add_globals();
  void add_global(
      const char* name,
      std::function<Value(const Arguments&, Allowance&)> call);
  Namespace* make_namespace();
  /// Makes it the `loop` of a loop, which nothing can be set of.
  static void add_cycle(Namespace& loop);

  const Body& statements_;
  const std::tm now_;
  Allowance allowance_;
  std::vector<std::unique_ptr<Namespace>> namespaces_;
  Scope globals_;
  Scope root_;
  Scope* scope_ = &root_;
  int macros_ = 0; // running
  std::string* out_ = nullptr;
  int line_ = 1;
};

} // namespace holdfast::jinja
