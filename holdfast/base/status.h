// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Errors. Misuse and refusals throw Error, whose text reads
// "[where] expected ..., got ...". What depends on a disk, a file or the
// network returns Status or Result<T>. Values are immutable; any thread.

#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace holdfast {

enum class ErrorCode {
  kOk,
  kInvalidArgument, // the caller's mistake
  kNotFound,
  kCorrupt, // stored bytes contradict their format
  kUnsupported, // well formed, but nothing here can do it
  kOutOfBudget, // a byte budget would be exceeded; nothing changed
  kIo, // the operating system refused
  kStale, // belongs to an ended step, or to rows that have changed
  kInternal, // an invariant of ours is broken
};

/// A short stable name, such as "corrupt".
const char* name(ErrorCode code);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text)
      : std::runtime_error(text), code_(code) {}
  ErrorCode code() const {
    return code_;
  }

 private:
  ErrorCode code_;
};

class [[nodiscard]] Status {
 public:
  Status() = default; // ok
  Status(ErrorCode code, std::string text)
      : code_(code), text_(std::move(text)) {}

  bool ok() const {
    return code_ == ErrorCode::kOk;
  }
  ErrorCode code() const {
    return code_;
  }
  const std::string& text() const {
    return text_;
  }
  /// Throws Error unless ok.
  void check() const;

 private:
  ErrorCode code_ = ErrorCode::kOk;
  std::string text_;
};

/// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  /// A status that is ok says nothing about a missing value: kInternal.
  Result(Status status)
      : value_(
            status.ok() ? Status(
                              ErrorCode::kInternal,
                              "[Result] expected a value or an error, got ok")
                        : std::move(status)) {}

  bool ok() const {
    return value_.index() == 0;
  }
  Status status() const {
    return ok() ? Status() : std::get<1>(value_);
  }
  /// The value; throws Error where there is none.
  T& value() & {
    require();
    return std::get<0>(value_);
  }
  const T& value() const& {
    require();
    return std::get<0>(value_);
  }
  /// By value: a loop over the value of a temporary would outlive a reference.
  T value() && {
    require();
    return std::get<0>(std::move(value_));
  }

 private:
  void require() const {
    if (!ok()) {
      std::get<1>(value_).check();
    }
  }
  std::variant<T, Status> value_;
};

} // namespace holdfast
