// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_methods.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_compare.h"

namespace holdfast::jinja {

namespace {

using Names = std::initializer_list<std::string_view>;

bool among(const std::string& name, Names names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_changing(const std::string& name) {
  return among(
      name,
      {"append",
       "clear",
       "extend",
       "insert",
       "pop",
       "popitem",
       "remove",
       "reverse",
       "setdefault",
       "sort",
       "update"});
}

bool is_of_text(const std::string& name) {
  return among(
      name,
      {"capitalize", "casefold",     "center",    "count",     "encode",
       "endswith",   "expandtabs",   "find",      "format",    "format_map",
       "index",      "isalnum",      "isalpha",   "isascii",   "isdecimal",
       "isdigit",    "isidentifier", "islower",   "isnumeric", "isprintable",
       "isspace",    "istitle",      "isupper",   "join",      "ljust",
       "lower",      "lstrip",       "maketrans", "partition", "removeprefix",
       "replace",    "removesuffix", "rfind",     "rindex",    "rjust",
       "rpartition", "rsplit",       "rstrip",    "split",     "splitlines",
       "startswith", "strip",        "swapcase",  "title",     "translate",
       "upper",      "zfill"});
}

std::vector<Value> dict_parts(const Dict& dict, const std::string& name) {
  std::vector<Value> parts;
  for (const auto& [key, value] : dict.items) {
    parts.push_back(
        name == "keys" ? key
            : name == "values"
            ? value
            : Value::sequence(SequenceKind::kTuple, {key, value}));
  }
  return parts;
}

Value call_dict(
    const Value& self,
    const std::string& name,
    const Arguments& arguments,
    Allowance& allowance) {
  const size_t size = self.dict().items.size();
  if (name == "get") {
    const auto given = bind(arguments, "get", {"key", "default"}, 1);
    allowance.step(1 + size / 8);
    const Value* found = self.dict().find(*given[0]);
    return found != nullptr   ? *found
        : given[1] != nullptr ? *given[1]
                              : Value();
  }
  bind(arguments, name, {}, 0);
  if (name == "copy") {
    return self;
  }
  allowance.make(3 * kItemBytes * size);
  return Value::sequence(SequenceKind::kView, dict_parts(self.dict(), name));
}

Value call_list(
    const Value& self,
    const std::string& name,
    const Arguments& arguments,
    Allowance& allowance) {
  if (name == "copy") {
    bind(arguments, name, {}, 0);
    return self;
  }
  const Value& wanted = *bind(arguments, name, {"value"}, 1)[0];
  const auto& items = self.seq().items;
  allowance.step(self.extent().values);
  const auto same = [&](const Value& one) { return equal(one, wanted); };
  if (name == "count") {
    return static_cast<int64_t>(std::ranges::count_if(items, same));
  }
  const auto at = std::ranges::find_if(items, same);
  if (at == items.end()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "expected an item of the list to find, got another");
  }
  return static_cast<int64_t>(at - items.begin());
}

bool is_list_like(const Value& value) {
  return value.is_sequence(SequenceKind::kList) ||
      value.is_sequence(SequenceKind::kTuple) ||
      value.is_sequence(SequenceKind::kRange);
}

} // namespace

bool has_attribute(const Value& value, const std::string& name) {
  if (name.starts_with("__") && name.ends_with("__") && name.size() > 4) {
    return true; // undefined, as whatever is private
  }
  switch (value.kind()) {
    case Kind::kText:
      return is_of_text(name);
    case Kind::kDict:
      return among(
          name,
          {"copy",
           "fromkeys",
           "get",
           "items",
           "keys",
           "values",
           "clear",
           "pop",
           "popitem",
           "setdefault",
           "update"});
    case Kind::kSequence:
      return value.is_sequence(SequenceKind::kList)
          ? among(name, {"copy", "count", "index"}) ||
              (is_changing(name) &&
               !among(name, {"popitem", "setdefault", "update"}))
          : is_list_like(value) && among(name, {"count", "index"});
    default:
      return false;
  }
}

Value method(const Value& value, const std::string& name) {
  if (name.starts_with("__") || (!value.is(Kind::kText) && is_changing(name))) {
    return Value::undefined(
        "'" + name + "' of " + value.type_name() + ", which is not allowed");
  }
  if (value.is(Kind::kDict) && name == "fromkeys") {
    throw Error(
        ErrorCode::kUnsupported, "expected no 'fromkeys', got a call of it");
  }
  auto made = std::make_shared<Callable>();
  made->name = name;
  made->extent = value.extent();
  made->call = [value, name](const Arguments& arguments, Allowance& allowance) {
    if (value.is(Kind::kDict)) {
      return call_dict(value, name, arguments, allowance);
    }
    if (value.is(Kind::kSequence)) {
      return call_list(value, name, arguments, allowance);
    }
    if (value.is_safe()) {
      throw Error(
          ErrorCode::kUnsupported,
          "expected text for '" + name +
              "', got text marked by `safe`, which would be escaped");
    }
    return text_method(value.text(), name, arguments, allowance);
  };
  return Value(std::shared_ptr<const Callable>(std::move(made)));
}

} // namespace holdfast::jinja
