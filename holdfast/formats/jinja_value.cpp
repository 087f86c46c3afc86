// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_value.h"

#include <algorithm>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_callable.h"
#include "holdfast/formats/jinja_compare.h"

namespace holdfast::jinja {

namespace {

void include(Extent& extent, const Extent& part) {
  if (part.depth >= Value::kMostDepth) {
    throw Error(
        ErrorCode::kOutOfBudget,
        "expected values nested at most " + std::to_string(Value::kMostDepth) +
            " deep, got one more");
  }
  constexpr size_t kMost = size_t{1} << 40; // sums stay far from the type's end
  extent.depth = std::max(extent.depth, part.depth + 1);
  extent.values = std::min(kMost, extent.values + part.values);
}

bool can_be_key(const Value& value) {
  return value.is(Kind::kNone) || value.is_number() || value.is(Kind::kText);
}

/// Python takes all but lists and dicts.
[[noreturn]] void refuse_key(const Value& key) {
  const char* wanted = "none, a number or text as key";
  if (key.is(Kind::kDict) || key.is_sequence(SequenceKind::kList)) {
    refuse(wanted, key);
  }
  throw Error(
      ErrorCode::kUnsupported,
      std::string("expected ") + wanted + ", got " + key.type_name());
}

} // namespace

const Value* Dict::find(const Value& key) const {
  const auto at = std::ranges::find_if(
      items, [&](const auto& item) { return equal(item.first, key); });
  return at == items.end() ? nullptr : &at->second;
}

const Value* Dict::find(std::string_view key) const {
  const auto at = std::ranges::find_if(items, [&](const auto& item) {
    return item.first.is(Kind::kText) && item.first.text() == key;
  });
  return at == items.end() ? nullptr : &at->second;
}

const Value* Namespace::find(std::string_view name) const {
  const auto at = std::ranges::find_if(
      items, [&](const auto& item) { return item.first == name; });
  return at == items.end() ? nullptr : &at->second;
}

void Namespace::set(const std::string& name, Value value) {
  const auto at = std::ranges::find_if(
      items, [&](const auto& item) { return item.first == name; });
  if (at == items.end()) {
    items.emplace_back(name, std::move(value));
  } else {
    at->second = std::move(value);
  }
}

Value Value::undefined(std::string hint) {
  Value value;
  value.held_ = std::make_shared<const Missing>(Missing{std::move(hint)});
  return value;
}

Value Value::sequence(SequenceKind kind, std::vector<Value> items) {
  Extent extent{.depth = 1};
  for (const Value& item : items) {
    include(extent, item.extent());
  }
  Value value;
  value.held_ = std::make_shared<const Sequence>(
      Sequence{kind, std::move(items), extent, 0});
  return value;
}

Value Value::dict(std::vector<std::pair<Value, Value>> items) {
  Dict made{.items = {}, .extent = {.depth = 1}};
  for (auto& [key, value] : items) {
    if (!can_be_key(key)) {
      refuse_key(key);
    }
    include(made.extent, value.extent());
    const auto at =
        std::ranges::find_if(made.items, [&wanted = key](const auto& item) {
          return equal(item.first, wanted);
        });
    if (at == made.items.end()) {
      made.items.emplace_back(std::move(key), std::move(value));
    } else {
      at->second = std::move(value);
    }
  }
  Value value;
  value.held_ = std::make_shared<const Dict>(std::move(made));
  return value;
}

void refuse(const std::string& wanted, const Value& got) {
  throw Error(
      ErrorCode::kInvalidArgument,
      "expected " + wanted + ", got " +
          (got.is_undefined() ? got.hint() : got.type_name()));
}

bool Value::truth() const {
  switch (kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInteger:
      return integer() != 0;
    case Kind::kFloat:
      return number() != 0;
    case Kind::kText:
      return !text().empty();
    case Kind::kSequence:
      return seq().kind == SequenceKind::kGenerator || !seq().items.empty();
    case Kind::kDict:
      return !dict().items.empty();
    case Kind::kNamespace:
    case Kind::kCallable:
      return true;
  }
  return true;
}

Extent Value::extent() const {
  return is(Kind::kSequence) ? seq().extent
      : is(Kind::kDict)      ? dict().extent
      : is(Kind::kCallable)  ? callable().extent
                             : Extent{};
}

const char* Value::type_name() const {
  constexpr const char* kNames[] = {
      "undefined",
      "none",
      "bool",
      "int",
      "float",
      "text",
      "",
      "dict",
      "namespace",
      "function"};
  constexpr const char* kSequences[] = {
      "list", "tuple", "range", "dict view", "generator"};
  return is(Kind::kSequence) ? kSequences[static_cast<int>(seq().kind)]
                             : kNames[static_cast<int>(kind())];
}

} // namespace holdfast::jinja
