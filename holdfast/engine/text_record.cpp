// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/text_record.h"

#include "holdfast/prefix/text_facts.h"

namespace holdfast {

std::string
first_line_of(const Tokenizer& tokenizer, std::span<const int32_t> tokens) {
  // A long text is not decoded for its first line. A token may be long: what
  // is cut is the text, not the tokens.
  constexpr size_t kEnough = 4096;
  Detokenizer detokenizer(tokenizer);
  std::string text;
  for (const int32_t token : tokens) {
    text += detokenizer.push(token);
    if (text.size() > kEnough) {
      return first_line(text);
    }
  }
  return first_line(text + detokenizer.flush());
}

NamedRecord text_record(
    const PrefixCache& cache,
    const Tokenizer& tokenizer,
    const std::string& model,
    std::span<const int32_t> tokens) {
  NamedRecord record;
  record.name = text_name(cache.scope(), tokens);
  record.replaces_prefixes = true;
  set_facts(
      record.body,
      {.model = model,
       .line = first_line_of(tokenizer, tokens),
       .made_ns = cache.clock().wall_ns()});
  return record;
}

} // namespace holdfast
