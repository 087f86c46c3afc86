// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A text that has a name, and what is known of one. It is replaced as a whole,
// with all state that a row of it needs (docs/prefix.md). Values; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/prefix/path.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/record_body.h"

namespace holdfast {

/// What goes with a text's tokens. Names of parts that begin with "." are the
/// cache's own.
struct NamedRecord {
  RecordName name; // neither empty
  RecordBody body = {};
  bool pinned = false; // a pin that is there stays
  int64_t expires_ns = 0; // wall clock; 0: never
  /// Unpinned records of the space that this text begins with are removed.
  bool replaces_prefixes = false;
};

struct RecordFacts {
  RecordName name;
  /// One more with each store; of what waits to be stored, the next one.
  uint64_t version = 0;
  Position length; // tokens
  bool pinned = false;
  bool on_disk = false; // false: in RAM alone, or it waits for the disk
  int64_t stored_ns = 0; // wall clock
  int64_t expires_ns = 0;
  /// Why its state is of no use here; empty where it is of this scope.
  std::string other_scope = {};
};

struct KnownRecord {
  RecordFacts facts;
  std::vector<int32_t> tokens;
  std::vector<TokenMark> marks;
  RecordBody body;

  Path path() const {
    return {tokens, marks};
  }
};

/// Marks as bytes, for a part of a body.
std::string encode_marks(std::span<const TokenMark> marks);
/// Nothing for bytes that encode_marks does not give.
std::optional<std::vector<TokenMark>> parse_marks(std::string_view bytes);

} // namespace holdfast
