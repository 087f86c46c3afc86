// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What every template can call: range, dict, namespace, raise_exception,
// strftime_now, and cycle() of a loop.

#include <utility>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_operators.h"
#include "holdfast/formats/jinja_print.h"
#include "holdfast/formats/jinja_render.h"
#include "holdfast/formats/jinja_subscript.h"

namespace holdfast::jinja {

namespace {

/// As in jinja2's sandbox.
constexpr int64_t kMostRange = 100'000;

int64_t whole(const Value& value) {
  if (!value.is_whole()) {
    refuse("whole numbers for range", value);
  }
  return value.integer();
}

Value make_range(const Arguments& arguments, Allowance& allowance) {
  const auto given = bind(arguments, "range", {"start", "stop", "step"}, 1);
  const bool one = given[1] == nullptr;
  const int64_t start = one ? 0 : whole(*given[0]);
  const int64_t stop = whole(one ? *given[0] : *given[1]);
  const int64_t step = given[2] != nullptr ? whole(*given[2]) : 1;
  if (step == 0) {
    throw Error(
        ErrorCode::kInvalidArgument, "expected a step that moves, got 0");
  }
  std::vector<Value> items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (std::ssize(items) == kMostRange) {
      throw Error(
          ErrorCode::kOutOfBudget,
          "expected a range of at most " + std::to_string(kMostRange) +
              " numbers, got a longer one");
    }
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) {
      break;
    }
  }
  allowance.make(kItemBytes * items.size());
  return Value::sequence(SequenceKind::kRange, std::move(items));
}

/// `dict(mapping or pairs, name=value, ...)`, as pairs.
std::vector<std::pair<Value, Value>>
pairs_of(const Arguments& arguments, Allowance& allowance) {
  if (arguments.positional.size() > 1) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "expected at most one mapping, got several");
  }
  std::vector<std::pair<Value, Value>> pairs;
  for (const Value& first : arguments.positional) {
    if (first.is(Kind::kDict)) {
      pairs = first.dict().items;
      continue;
    }
    for (const Value& one : iterate(first, allowance)) {
      const auto parts = iterate(one, allowance);
      if (parts.size() != 2) {
        refuse("pairs to make a dict of", one);
      }
      pairs.emplace_back(parts[0], parts[1]);
    }
  }
  for (const auto& [name, value] : arguments.named) {
    pairs.emplace_back(Value(name), value);
  }
  allowance.make(2 * kItemBytes * pairs.size());
  allowance.step(pairs.size() * pairs.size() / 8);
  return pairs;
}

Value formatted(
    const Arguments& arguments,
    const std::tm& now,
    Allowance& allowance) {
  const auto given = bind(arguments, "strftime_now", {"format"}, 1);
  const std::string& format = plain_text(*given[0], "a format of dates");
  if (format.empty()) {
    return Value("");
  }
  std::string text(4096, '\0');
  // A blank in front: nothing written means no room then.
  const size_t size =
      std::strftime(text.data(), text.size(), (" " + format).c_str(), &now);
  if (size == 0 || format.find('\0') != format.npos) {
    throw Error(
        ErrorCode::kUnsupported,
        "expected a format of dates that gives at most 4 kB, got another");
  }
  allowance.make(size);
  text.resize(size);
  return Value(text.substr(1));
}

} // namespace

Namespace* Render::make_namespace() {
  allowance_.make(sizeof(Namespace) + 12 * kItemBytes);
  namespaces_.push_back(std::make_unique<Namespace>());
  return namespaces_.back().get();
}

void Render::add_global(
    const char* name,
    std::function<Value(const Arguments&, Allowance&)> call) {
  auto made = std::make_shared<Callable>();
  made->name = name;
  made->call = std::move(call);
  globals_.set(name, Value(std::shared_ptr<const Callable>(std::move(made))));
}

void Render::add_globals() {
  add_global("range", make_range);
  add_global("dict", [](const Arguments& arguments, Allowance& allowance) {
    return Value::dict(pairs_of(arguments, allowance));
  });
  add_global(
      "namespace", [this](const Arguments& arguments, Allowance& allowance) {
        Namespace* made = make_namespace();
        for (auto& [name, value] : pairs_of(arguments, allowance)) {
          made->set(plain_text(name, "the name of an attribute"), value);
        }
        return Value(made);
      });
  add_global(
      "raise_exception",
      [](const Arguments& arguments, Allowance& allowance) -> Value {
        const auto given = bind(arguments, "raise_exception", {"message"}, 1);
        throw Error(
            ErrorCode::kInvalidArgument,
            "expected a conversation that the template takes, got: " +
                to_text(*given[0], allowance));
      });
  add_global(
      "strftime_now", [this](const Arguments& arguments, Allowance& allowance) {
        return formatted(arguments, now_, allowance);
      });
}

void Render::add_cycle(Namespace& loop) {
  loop.fixed = true;
  auto made = std::make_shared<Callable>();
  made->name = "cycle";
  made->call = [&loop](const Arguments& arguments, Allowance&) {
    const auto& given = arguments.positional;
    if (given.empty()) {
      throw Error(
          ErrorCode::kInvalidArgument, "expected values to cycle, got none");
    }
    const auto turn = static_cast<size_t>(loop.find("index0")->integer());
    return given[turn % given.size()];
  };
  loop.set("cycle", Value(std::shared_ptr<const Callable>(std::move(made))));
}

} // namespace holdfast::jinja
