// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Filters of a value's items: selection, mapping, order. Python's are read
// when they are asked; here all at once, which a template cannot tell but by
// what an item that is never asked for would have raised.

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string_view>
#include <utility>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_compare.h"
#include "holdfast/formats/jinja_filters.h"
#include "holdfast/formats/jinja_methods.h"
#include "holdfast/formats/jinja_operators.h"
#include "holdfast/formats/jinja_print.h"
#include "holdfast/formats/jinja_subscript.h"
#include "holdfast/formats/jinja_text.h"

namespace holdfast::jinja {

namespace {

Value generator(std::vector<Value> items) {
  return Value::sequence(SequenceKind::kGenerator, std::move(items));
}

/// `a.b.0` of an item; null or none: the item.
class Getter {
 public:
  explicit Getter(const Value* path) {
    if (path == nullptr || path->is(Kind::kNone)) {
      return;
    }
    if (!path->is(Kind::kText)) {
      parts_.push_back(*path);
      return;
    }
    std::string_view rest = path->text();
    for (;;) {
      const size_t dot = rest.find('.');
      const std::string_view part = rest.substr(0, dot);
      const bool digits = !part.empty() && part.size() < 18 &&
          std::ranges::all_of(
              part, [](char c) { return c >= '0' && c <= '9'; });
      parts_.push_back(
          digits ? Value(int64_t{std::stoll(std::string(part))}) : Value(part));
      if (dot == rest.npos) {
        break;
      }
      rest.remove_prefix(dot + 1);
    }
  }

  Value
  get(Value value, Allowance& allowance, const Value* other = nullptr) const {
    for (const Value& part : parts_) {
      value = item(value, part, allowance);
      if (value.is_undefined() && other != nullptr && !other->is(Kind::kNone)) {
        value = *other;
      }
    }
    return value;
  }

 private:
  std::vector<Value> parts_;
};

/// The arguments behind the first `count`.
Arguments rest(const Arguments& given, size_t count) {
  const auto from =
      given.positional.begin() + static_cast<std::ptrdiff_t>(count);
  return {{from, given.positional.end()}, given.named};
}

Value do_map(const Value& value, const Arguments& given, Allowance& a) {
  std::vector<Value> result;
  if (!value.truth()) { // as in jinja2: not looked at further
    return generator(std::move(result));
  }
  if (given.positional.empty()) {
    const auto bound = bind(given, "map", {"attribute", "default"}, 1);
    const Getter getter(bound[0]);
    for (const Value& one : iterate(value, a)) {
      result.push_back(getter.get(one, a, bound[1]));
    }
    return generator(std::move(result));
  }
  const std::string& name =
      plain_text(given.positional[0], "the name of a filter");
  const Arguments others = rest(given, 1);
  for (const Value& one : iterate(value, a)) {
    result.push_back(apply_filter(name, one, others, a));
  }
  return generator(std::move(result));
}

struct Choice {
  bool by_attribute = false;
  bool wanted = true;
};

Value choose(
    const Value& value,
    const Arguments& given,
    Choice choice,
    Allowance& a) {
  if (!value.truth()) {
    return generator({});
  }
  const size_t skipped = choice.by_attribute ? 1 : 0;
  if (given.positional.size() < skipped) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "expected the name of an attribute to choose by, got none");
  }
  const Getter getter(choice.by_attribute ? given.positional.data() : nullptr);
  const bool tested = given.positional.size() > skipped;
  const std::string name =
      tested ? plain_text(given.positional[skipped], "the name of a test") : "";
  const Arguments others = tested ? rest(given, skipped + 1) : Arguments{};
  std::vector<Value> result;
  for (const Value& one : iterate(value, a)) {
    const Value part = getter.get(one, a);
    const bool holds =
        tested ? apply_test(name, part, others, a) : part.truth();
    if (holds == choice.wanted) {
      result.push_back(one);
    }
  }
  return generator(std::move(result));
}

template <bool ByAttribute, bool Wanted>
Value do_choose(const Value& value, const Arguments& given, Allowance& a) {
  return choose(
      value, given, {.by_attribute = ByAttribute, .wanted = Wanted}, a);
}

Value do_first(const Value& value, const Arguments& given, Allowance& a) {
  bind(given, "first", {}, 0);
  if (value.is_sequence(SequenceKind::kGenerator)) {
    const Sequence& sequence = value.seq();
    return sequence.read < sequence.items.size()
        ? sequence.items[sequence.read++]
        : Value::undefined("the first of no items");
  }
  const auto items = iterate(value, a);
  return items.empty() ? Value::undefined("the first of no items")
                       : items.front();
}

Value do_last(const Value& value, const Arguments& given, Allowance& a) {
  bind(given, "last", {}, 0);
  if (value.is_sequence(SequenceKind::kGenerator)) {
    refuse("a list to take the last of", value);
  }
  const auto items = iterate(value, a);
  return items.empty() ? Value::undefined("the last of no items")
                       : items.back();
}

Value do_list(const Value& value, const Arguments& given, Allowance& a) {
  bind(given, "list", {}, 0);
  return Value::list(iterate(value, a));
}

Value do_items(const Value& value, const Arguments& given, Allowance& a) {
  bind(given, "items", {}, 0);
  if (!value.is_undefined() && !value.is(Kind::kDict)) {
    refuse("a dict to take the items of", value);
  }
  std::vector<Value> result;
  if (value.is(Kind::kDict)) {
    a.make(3 * kItemBytes * value.dict().items.size());
    for (const auto& [key, one] : value.dict().items) {
      result.push_back(Value::sequence(SequenceKind::kTuple, {key, one}));
    }
  }
  return generator(std::move(result));
}

Value do_join(const Value& value, const Arguments& given, Allowance& a) {
  const auto bound = bind(given, "join", {"d", "attribute"}, 0);
  const std::string between = bound[0] != nullptr ? to_text(*bound[0], a) : "";
  const Getter getter(bound[1]);
  std::string result;
  bool first = true;
  for (const Value& one : iterate(value, a)) {
    a.make(between.size());
    result += first ? "" : between;
    result += to_text(getter.get(one, a), a);
    first = false;
  }
  return Value(std::move(result));
}

Value do_reverse(const Value& value, const Arguments& given, Allowance& a) {
  bind(given, "reverse", {}, 0);
  if (value.is(Kind::kText)) {
    a.make(value.text().size());
    auto parts = characters(plain_text(value, "text to reverse"));
    std::string result;
    std::ranges::reverse(parts);
    for (const std::string_view part : parts) {
      result += part;
    }
    return Value(std::move(result));
  }
  auto items = iterate(value, a);
  std::ranges::reverse(items);
  return value.is_sequence(SequenceKind::kGenerator)
      ? Value::list(std::move(items))
      : generator(std::move(items));
}

/// What items are ordered by: an attribute, letters of either case alike.
class Keys {
 public:
  Keys(const Value* attribute, const Value* case_sensitive)
      : getter_(attribute),
        folds_(case_sensitive == nullptr || !case_sensitive->truth()) {
    if (attribute != nullptr && attribute->is(Kind::kText) &&
        attribute->text().find(',') != std::string::npos) {
      throw Error(
          ErrorCode::kUnsupported,
          "expected one attribute to order by, got several");
    }
  }

  Value of(const Value& value, Allowance& allowance) const {
    Value key = getter_.get(value, allowance);
    return folds_ && key.is(Kind::kText) ? Value(lower(key.text())) : key;
  }

 private:
  Getter getter_;
  bool folds_;
};

using Keyed = std::vector<std::pair<Value, Value>>; // key, item

Keyed keyed(const Value& value, const Keys& keys, Allowance& a) {
  Keyed result;
  size_t weight = 0;
  for (Value& one : iterate(value, a)) {
    Value key = keys.of(one, a);
    weight += key.extent().values;
    result.emplace_back(std::move(key), std::move(one));
  }
  a.step(20 * weight); // comparisons: below 20 each for a million items
  return result;
}

Value unkeyed(Keyed& items) {
  std::vector<Value> result;
  for (auto& [key, one] : items) {
    result.push_back(std::move(one));
  }
  return Value::list(std::move(result));
}

void sort_keyed(Keyed& items, bool down) {
  std::ranges::stable_sort(items, [down](const auto& a, const auto& b) {
    return down ? order(b.first, a.first) == -1 : order(a.first, b.first) == -1;
  });
}

Value do_sort(const Value& value, const Arguments& given, Allowance& a) {
  const auto bound =
      bind(given, "sort", {"reverse", "case_sensitive", "attribute"}, 0);
  Keyed items = keyed(value, Keys(bound[2], bound[1]), a);
  sort_keyed(items, bound[0] != nullptr && bound[0]->truth());
  return unkeyed(items);
}

Value do_dictsort(const Value& value, const Arguments& given, Allowance& a) {
  const auto bound =
      bind(given, "dictsort", {"case_sensitive", "by", "reverse"}, 0);
  const Value by = bound[1] != nullptr ? *bound[1] : Value("key");
  const bool key = equal(by, Value("key"));
  if (!value.is(Kind::kDict) || (!key && !equal(by, Value("value")))) {
    refuse("a dict to sort by 'key' or 'value'", value);
  }
  const Value place(key ? 0 : 1);
  Keyed items = keyed(do_items(value, {}, a), Keys(&place, bound[0]), a);
  sort_keyed(items, bound[2] != nullptr && bound[2]->truth());
  return unkeyed(items);
}

Value do_unique(const Value& value, const Arguments& given, Allowance& a) {
  const auto bound = bind(given, "unique", {"case_sensitive", "attribute"}, 0);
  std::vector<Value> seen;
  std::vector<Value> result;
  for (auto& [key, one] : keyed(value, Keys(bound[1], bound[0]), a)) {
    a.step(1 + seen.size());
    const auto same = [&wanted = key](const Value& other) {
      return equal(other, wanted);
    };
    if (std::ranges::none_of(seen, same)) {
      seen.push_back(key);
      result.push_back(one);
    }
  }
  return generator(std::move(result));
}

template <bool Most>
Value do_extreme(const Value& value, const Arguments& given, Allowance& a) {
  const auto bound =
      bind(given, "min or max", {"case_sensitive", "attribute"}, 0);
  const Keyed items = keyed(value, Keys(bound[1], bound[0]), a);
  if (items.empty()) {
    return Value::undefined("the most or least of no items");
  }
  const auto* best = items.data();
  for (const auto& one : items) {
    if (order(one.first, best->first) == (Most ? 1 : -1)) {
      best = &one;
    }
  }
  return best->second;
}

Value do_sum(const Value& value, const Arguments& given, Allowance& a) {
  const auto bound = bind(given, "sum", {"attribute", "start"}, 0);
  const Getter getter(bound[0]);
  Value sum = bound[1] != nullptr ? *bound[1] : Value(0);
  for (const Value& one : iterate(value, a)) {
    sum = binary("+", sum, getter.get(one, a), a);
  }
  return sum;
}

constexpr std::pair<std::string_view, Filter> kFilters[] = {
    {"dictsort", do_dictsort},
    {"first", do_first},
    {"items", do_items},
    {"join", do_join},
    {"last", do_last},
    {"list", do_list},
    {"map", do_map},
    {"max", do_extreme<true>},
    {"min", do_extreme<false>},
    {"reject", do_choose<false, false>},
    {"rejectattr", do_choose<true, false>},
    {"reverse", do_reverse},
    {"select", do_choose<false, true>},
    {"selectattr", do_choose<true, true>},
    {"sort", do_sort},
    {"sum", do_sum},
    {"unique", do_unique},
};

} // namespace

Filter item_filter(const std::string& name) {
  const auto at = std::ranges::find(
      kFilters, name, [](const auto& entry) { return entry.first; });
  return at != std::end(kFilters) ? at->second : nullptr;
}

} // namespace holdfast::jinja
