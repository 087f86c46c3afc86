// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/text_facts.h"

#include "holdfast/base/sha256.h"
#include "holdfast/tier/little_endian.h"

namespace holdfast {

namespace {

constexpr uint32_t kVersion = 1;
constexpr std::string_view kBlanks = " \t\r\n\v\f";

std::string bytes_of(const RecordBody& body, std::string_view name) {
  const RecordBody::Part* part = body.find(name);
  return part && part->version == kVersion ? part->bytes : std::string();
}

/// Where a character that begins before `at` would be cut: its first byte.
size_t whole_characters(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() &&
         (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) {
    --at;
  }
  return at;
}

} // namespace

void set_facts(RecordBody& body, const TextFacts& facts) {
  std::byte made[sizeof(int64_t)];
  store_le<int64_t>(made, 0, facts.made_ns);
  body.set("model", {.version = kVersion, .bytes = facts.model});
  body.set("line", {.version = kVersion, .bytes = facts.line});
  body.set(
      "made",
      {.version = kVersion,
       .bytes = {reinterpret_cast<const char*>(made), sizeof(made)}});
}

TextFacts facts_of(const RecordBody& body) {
  TextFacts facts{
      .model = bytes_of(body, "model"), .line = bytes_of(body, "line")};
  const std::string made = bytes_of(body, "made");
  if (made.size() == sizeof(int64_t)) {
    facts.made_ns = load_le<int64_t>(std::as_bytes(std::span(made)), 0);
  }
  return facts;
}

std::string first_line(std::string_view text, size_t most) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(begin);
  text = text.substr(0, text.find_first_of("\r\n"));
  text = text.substr(0, whole_characters(text, std::min(most, text.size())));
  return std::string(text.substr(0, text.find_last_not_of(kBlanks) + 1));
}

RecordName text_name(const Scope& scope, std::span<const int32_t> tokens) {
  const std::string hex = Sha256()
                              .add(std::as_bytes(std::span(scope.text())))
                              .add(std::as_bytes(tokens))
                              .finish()
                              .hex();
  return {"text", hex.substr(0, 16)};
}

} // namespace holdfast
