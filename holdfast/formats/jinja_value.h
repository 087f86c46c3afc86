// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The values of a template: python's, as far as docs/templates.md goes. Values
// are immutable and cheap to copy; only a Namespace changes, and it belongs to
// the render that made it. Containers know their extent: no walk over
// one, its destruction included, is deeper than kMostDepth, and what it costs
// is known before (parts that are shared count each time). Threads: const from
// any thread; a namespace and a generator one at a time.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::jinja {

class Value;
struct Callable;
struct Namespace;

enum class Kind {
  kUndefined,
  kNone,
  kBool,
  kInteger,
  kFloat,
  kText,
  kSequence,
  kDict,
  kNamespace,
  kCallable,
};

enum class SequenceKind {
  kList,
  kTuple,
  kRange,
  kView, // dict.keys(), .values() and .items(): counted, not indexed
  kGenerator, // what map, select and the like give: read once
};

/// What an undefined value says when more is wanted of it than nothing.
struct Missing {
  std::string hint; // "'x' is undefined"
};

struct Text {
  std::string bytes; // UTF-8
  bool safe = false; // of the filter `safe`: markup, which joins differently
};

/// Of a value: levels of containers, and values in all of them.
struct Extent {
  int depth = 0;
  size_t values = 1;
};

struct Sequence {
  SequenceKind kind = SequenceKind::kList;
  std::vector<Value> items;
  Extent extent = {};
  mutable size_t read = 0; // of a generator: items that were taken
};

/// Pairs in the order of insertion; keys are none, bool, number or text.
struct Dict {
  std::vector<std::pair<Value, Value>> items;
  Extent extent = {};

  /// Null where there is none.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
};

class Value {
 public:
  static constexpr int kMostDepth = 100;

  Value() = default; // none
  Value(bool value) : held_(value) {}
  Value(int64_t value) : held_(value) {}
  Value(int value) : held_(int64_t{value}) {}
  Value(double value) : held_(value) {}
  Value(std::string text, bool safe = false)
      : held_(std::make_shared<const Text>(Text{std::move(text), safe})) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(Namespace* space) : held_(space) {}
  Value(std::shared_ptr<const Callable> function)
      : held_(std::move(function)) {}

  static Value undefined(std::string hint);
  /// Throw kOutOfBudget where it would be too deep.
  static Value sequence(SequenceKind kind, std::vector<Value> items);
  static Value list(std::vector<Value> items) {
    return sequence(SequenceKind::kList, std::move(items));
  }
  /// Of two equal keys the last value counts, at the first one's place.
  /// Throws kInvalidArgument where a key is none of those above.
  static Value dict(std::vector<std::pair<Value, Value>> items);

  Kind kind() const {
    return static_cast<Kind>(held_.index());
  }
  bool is(Kind kind) const {
    return this->kind() == kind;
  }
  bool is_undefined() const {
    return is(Kind::kUndefined);
  }
  bool is_number() const {
    return is(Kind::kBool) || is(Kind::kInteger) || is(Kind::kFloat);
  }
  /// Bool or integer: python's int.
  bool is_whole() const {
    return is(Kind::kBool) || is(Kind::kInteger);
  }
  bool is_sequence(SequenceKind kind) const {
    return is(Kind::kSequence) && seq().kind == kind;
  }

  // Each of the kind that its name says; anything else is a fault of ours.
  const std::string& hint() const {
    return std::get<0>(held_)->hint;
  }
  bool boolean() const {
    return std::get<bool>(held_);
  }
  /// Of a bool, 0 or 1.
  int64_t integer() const {
    return is(Kind::kBool) ? (boolean() ? 1 : 0) : std::get<int64_t>(held_);
  }
  /// Of any number.
  double number() const {
    return is(Kind::kFloat) ? std::get<double>(held_)
                            : static_cast<double>(integer());
  }
  const std::string& text() const {
    return std::get<5>(held_)->bytes;
  }
  bool is_safe() const {
    return is(Kind::kText) && std::get<5>(held_)->safe;
  }
  const Sequence& seq() const {
    return *std::get<6>(held_);
  }
  const Dict& dict() const {
    return *std::get<7>(held_);
  }
  Namespace* space() const {
    return std::get<Namespace*>(held_);
  }
  const Callable& callable() const {
    return *std::get<9>(held_);
  }

  bool truth() const;
  Extent extent() const;
  /// Python's name of its type, for messages.
  const char* type_name() const;
  /// Whether both are the same object (`is sameas`).
  bool same(const Value& other) const {
    return held_ == other.held_;
  }

 private:
  // The order of Kind.
  std::variant<
      std::shared_ptr<const Missing>,
      std::monostate,
      bool,
      int64_t,
      double,
      std::shared_ptr<const Text>,
      std::shared_ptr<const Sequence>,
      std::shared_ptr<const Dict>,
      Namespace*,
      std::shared_ptr<const Callable>>
      held_ = std::monostate();
};

/// Error (kInvalidArgument) "expected <wanted>, got <what it is>".
[[noreturn]] void refuse(const std::string& wanted, const Value& got);

/// `namespace(...)`: the one value that a template can change.
struct Namespace {
  std::vector<std::pair<std::string, Value>> items;
  bool fixed = false; // `loop`: not for templates to set

  const Value* find(std::string_view name) const;
  void set(const std::string& name, Value value);
};

} // namespace holdfast::jinja
