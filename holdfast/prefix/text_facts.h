// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a person is told of a record: which model, how its text begins, when it
// was made. Parts of its body, the same in every space. Values; any thread.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/prefix/scope.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/record_body.h"

namespace holdfast {

struct TextFacts {
  std::string model; // its file's name
  std::string line; // the first line of the text, UTF-8, cut
  int64_t made_ns = 0; // wall clock
  bool operator==(const TextFacts&) const = default;
};

/// As the parts "model", "line" and "made", each of version 1.
void set_facts(RecordBody& body, const TextFacts& facts);
/// Those that are there; others are empty.
TextFacts facts_of(const RecordBody& body);

/// The first line that is not blank, without the blanks around it: at most so
/// many bytes, whole characters. text: UTF-8.
std::string first_line(std::string_view text, size_t most = 80);

/// The name of a text in the space "text": 16 hexadecimal digits of SHA-256
/// over scope and tokens.
RecordName text_name(const Scope& scope, std::span<const int32_t> tokens);

} // namespace holdfast
