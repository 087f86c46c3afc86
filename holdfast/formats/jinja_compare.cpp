// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_compare.h"

#include <algorithm>
#include <cmath>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_allowance.h"

namespace holdfast::jinja {

namespace {

/// Exact, also where the integer has more bits than a double holds.
int order_whole(int64_t a, double b) {
  if (std::isnan(b)) {
    return 2;
  }
  if (b >= 0x1p63) {
    return -1;
  }
  if (b < -0x1p63) {
    return 1;
  }
  const double floor = std::floor(b);
  const auto whole = static_cast<int64_t>(floor);
  if (a != whole) {
    return a < whole ? -1 : 1;
  }
  return b > floor ? -1 : 0;
}

template <class T>
int order_plain(T a, T b) {
  return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
}

int order_numbers(const Value& a, const Value& b) {
  if (a.is_whole() && b.is_whole()) {
    return order_plain(a.integer(), b.integer());
  }
  if (a.is_whole()) {
    return order_whole(a.integer(), b.number());
  }
  if (b.is_whole()) {
    const int other = order_whole(b.integer(), a.number());
    return other == 2 ? 2 : -other;
  }
  return order_plain(a.number(), b.number());
}

bool equal_sequences(const Sequence& a, const Sequence& b) {
  return a.kind == b.kind &&
      (a.kind == SequenceKind::kList || a.kind == SequenceKind::kTuple ||
       a.kind == SequenceKind::kRange) &&
      std::ranges::equal(a.items, b.items, equal);
}

bool equal_dicts(const Dict& a, const Dict& b) {
  return a.items.size() == b.items.size() &&
      std::ranges::all_of(a.items, [&](const auto& item) {
           const Value* other = b.find(item.first);
           return other != nullptr && equal(item.second, *other);
         });
}

} // namespace

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return order_numbers(a, b) == 0;
  }
  if (a.kind() != b.kind()) {
    return false;
  }
  switch (a.kind()) {
    case Kind::kUndefined:
      return true;
    case Kind::kText:
      return a.text() == b.text();
    case Kind::kSequence:
      return a.same(b) || equal_sequences(a.seq(), b.seq());
    case Kind::kDict:
      return a.same(b) || equal_dicts(a.dict(), b.dict());
    default:
      return a.same(b);
  }
}

int order(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return order_numbers(a, b);
  }
  if (a.is(Kind::kText) && b.is(Kind::kText)) {
    // Bytes of UTF-8 are ordered as their characters are.
    const int result = a.text().compare(b.text());
    return result < 0 ? -1 : result > 0 ? 1 : 0;
  }
  for (const auto kind : {SequenceKind::kList, SequenceKind::kTuple}) {
    if (a.is_sequence(kind) && b.is_sequence(kind)) {
      const auto& left = a.seq().items;
      const auto& right = b.seq().items;
      const auto [l, r] = std::ranges::mismatch(left, right, equal);
      if (l == left.end() || r == right.end()) {
        return order_plain(left.size(), right.size());
      }
      return order(*l, *r);
    }
  }
  refuse(
      std::string("something to compare with ") + a.type_name() + " in order",
      a.is_undefined() ? a : b);
}

bool contains(const Value& container, const Value& item, Allowance& allowance) {
  switch (container.kind()) {
    case Kind::kUndefined:
      return false;
    case Kind::kText:
      if (!item.is(Kind::kText)) {
        refuse("text to look for in text", item);
      }
      allowance.step(1 + container.text().size() / 64);
      return container.text().find(item.text()) != std::string::npos;
    case Kind::kSequence: {
      const Sequence& sequence = container.seq();
      allowance.step(container.extent().values);
      const bool once = sequence.kind == SequenceKind::kGenerator;
      for (size_t i = sequence.read; i < sequence.items.size(); ++i) {
        sequence.read = once ? i + 1 : 0;
        const Value& one = sequence.items[i];
        if (one.same(item) || equal(one, item)) {
          return true;
        }
      }
      return false;
    }
    case Kind::kDict:
      allowance.step(1 + container.dict().items.size());
      return container.dict().find(item) != nullptr;
    default:
      refuse("a text, list or dict to look in", container);
  }
}

} // namespace holdfast::jinja
