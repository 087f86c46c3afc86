// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_subscript.h"

#include <algorithm>
#include <optional>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_methods.h"
#include "holdfast/formats/jinja_text.h"

namespace holdfast::jinja {

namespace {

Value missing(const Value& value, const std::string& name) {
  return Value::undefined(
      std::string("'") + value.type_name() + "' without '" + name + "'");
}

const Value*
dict_item(const Value& value, const Value& key, Allowance& allowance) {
  allowance.step(1 + value.dict().items.size() / 8);
  return value.dict().find(key);
}

int64_t whole_bound(const Value& value) {
  if (!value.is_whole()) {
    refuse("whole numbers to slice with", value);
  }
  return value.integer();
}

/// The indices that a slice takes, by python's rules.
std::vector<size_t> slice_indices(const SliceBounds& bounds, size_t count) {
  const auto given = [](const Value* value) {
    return value == nullptr || value->is(Kind::kNone) ? std::optional<int64_t>()
                                                      : whole_bound(*value);
  };
  const auto size = static_cast<int64_t>(count);
  const int64_t step = given(bounds.step).value_or(1);
  if (step == 0) {
    throw Error(
        ErrorCode::kInvalidArgument, "expected a step that moves, got 0");
  }
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? size : size - 1;
  const auto clamped = [&](std::optional<int64_t> bound, int64_t none) {
    if (!bound) {
      return none;
    }
    return std::clamp(*bound < 0 ? *bound + size : *bound, low, high);
  };
  const int64_t start = clamped(given(bounds.start), step > 0 ? low : high);
  const int64_t stop = clamped(given(bounds.stop), step > 0 ? high : low);
  std::vector<size_t> indices;
  // A step beyond the size takes one item, whatever it adds.
  const int64_t stride = std::clamp(step, -size - 1, size + 1);
  for (int64_t i = start; stride > 0 ? i < stop : i > stop; i += stride) {
    indices.push_back(static_cast<size_t>(i));
  }
  return indices;
}

} // namespace

int64_t place(int64_t index, size_t count) {
  const auto size = static_cast<int64_t>(count);
  const int64_t at = index < 0 ? index + size : index;
  return at >= 0 && at < size ? at : -1;
}

Value attribute(
    const Value& value,
    const std::string& name,
    Allowance& allowance) {
  if (value.is_undefined()) {
    refuse("something defined with '" + name + "'", value);
  }
  if (value.is(Kind::kNamespace)) {
    const Value* found = value.space()->find(name);
    return found != nullptr ? *found : missing(value, name);
  }
  if (has_attribute(value, name)) {
    return method(value, name);
  }
  if (value.is(Kind::kDict)) {
    const Value* found = dict_item(value, Value(name), allowance);
    return found != nullptr ? *found : missing(value, name);
  }
  return missing(value, name);
}

Value item(const Value& value, const Value& key, Allowance& allowance) {
  if (value.is_undefined()) {
    refuse("something defined to look into", value);
  }
  if (value.is(Kind::kDict)) {
    if (const Value* found = dict_item(value, key, allowance)) {
      return *found;
    }
  } else if (value.is(Kind::kText) && key.is_whole()) {
    allowance.step(1 + value.text().size() / 64);
    const auto at = place(key.integer(), count_characters(value.text()));
    if (at >= 0) {
      const std::string_view rest =
          std::string_view(value.text())
              .substr(byte_of(value.text(), static_cast<size_t>(at)));
      return Value(rest.substr(0, byte_of(rest, 1)));
    }
  } else if (value.is(Kind::kSequence) && key.is_whole()) {
    const Sequence& sequence = value.seq();
    const auto at = place(key.integer(), sequence.items.size());
    const bool indexed = sequence.kind != SequenceKind::kView &&
        sequence.kind != SequenceKind::kGenerator;
    if (indexed && at >= 0) {
      return sequence.items[static_cast<size_t>(at)];
    }
  } else if (value.is(Kind::kNamespace) && key.is(Kind::kText)) {
    return attribute(value, key.text(), allowance);
  }
  if (key.is(Kind::kText) && has_attribute(value, key.text())) {
    return method(value, key.text());
  }
  return Value::undefined(
      std::string("'") + value.type_name() + "' without that item");
}

Value slice(
    const Value& value,
    const SliceBounds& bounds,
    Allowance& allowance) {
  if (value.is_undefined()) {
    refuse("something defined to slice", value);
  }
  if (value.is(Kind::kText)) {
    allowance.make(value.text().size());
    const auto parts = characters(value.text());
    std::string result;
    for (const size_t index : slice_indices(bounds, parts.size())) {
      result += parts[index];
    }
    return Value(std::move(result));
  }
  const bool sliced = value.is(Kind::kSequence) &&
      value.seq().kind != SequenceKind::kView &&
      value.seq().kind != SequenceKind::kGenerator;
  if (!sliced) {
    return missing(value, "slices");
  }
  const auto& items = value.seq().items;
  allowance.make(kItemBytes * items.size());
  std::vector<Value> taken;
  for (const size_t index : slice_indices(bounds, items.size())) {
    taken.push_back(items[index]);
  }
  return Value::sequence(value.seq().kind, std::move(taken));
}

std::vector<Value> iterate(const Value& value, Allowance& allowance) {
  std::vector<Value> result;
  switch (value.kind()) {
    case Kind::kUndefined:
      return {};
    case Kind::kText:
      allowance.make(kItemBytes * value.text().size());
      for (const std::string_view one : characters(value.text())) {
        result.emplace_back(one);
      }
      return result;
    case Kind::kSequence: {
      const Sequence& sequence = value.seq();
      allowance.make(kItemBytes * sequence.items.size());
      result.assign(
          sequence.items.begin() + static_cast<std::ptrdiff_t>(sequence.read),
          sequence.items.end());
      if (sequence.kind == SequenceKind::kGenerator) {
        sequence.read = sequence.items.size();
      }
      return result;
    }
    case Kind::kDict:
      allowance.make(kItemBytes * value.dict().items.size());
      for (const auto& entry : value.dict().items) {
        result.push_back(entry.first);
      }
      return result;
    default:
      refuse("a list, dict or text to go through", value);
  }
}

size_t length(const Value& value, Allowance& allowance) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kText:
      allowance.step(1 + value.text().size() / 64);
      return count_characters(value.text());
    case Kind::kSequence:
      if (value.seq().kind != SequenceKind::kGenerator) {
        return value.seq().items.size();
      }
      break;
    case Kind::kDict:
      return value.dict().items.size();
    default:
      break;
  }
  refuse("something that has a length", value);
}

} // namespace holdfast::jinja
