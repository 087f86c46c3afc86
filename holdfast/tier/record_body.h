// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a record says beside its tokens: named bytes, each with the version of
// what they mean, in one encoding (docs/manifest.md). Equal bodies have equal
// bytes; parsing refuses whatever encode() does not give. A value; any thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"

namespace holdfast {

class RecordBody {
 public:
  struct Part {
    uint32_t version = 1; // of what the bytes mean
    std::string bytes;
    bool operator==(const Part&) const = default;
  };

  static constexpr size_t kMaxNameBytes = 255;
  static constexpr size_t kMaxParts = 4096;

  /// Replaces the part of that name. Throws kInvalidArgument for a name that is
  /// empty or longer than kMaxNameBytes, and for more than kMaxParts.
  RecordBody& set(std::string_view name, Part part);
  /// Null where there is none.
  const Part* find(std::string_view name) const;
  /// False where there was none.
  bool remove(std::string_view name);

  const std::map<std::string, Part, std::less<>>& parts() const {
    return parts_;
  }
  bool empty() const {
    return parts_.empty();
  }
  /// Names, bytes and what a part takes in RAM, about.
  Bytes bytes() const;

  /// Of no bytes where there is no part.
  std::string encode() const;
  /// kCorrupt for other bytes, kUnsupported for a later encoding.
  static Result<RecordBody> parse(std::string_view bytes);

  bool operator==(const RecordBody&) const = default;

 private:
  std::map<std::string, Part, std::less<>> parts_;
};

} // namespace holdfast
