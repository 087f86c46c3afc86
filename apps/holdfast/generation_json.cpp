// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "generation_json.h"

namespace holdfast::app {

void add_generation(Json& json, const Generation& result) {
  json.update(Json{
      {"text", result.text},
      {"ids", result.ids},
      {"finish_reason", name(result.finish_reason)},
      {"prompt_tokens", result.prompt_ids.size()},
      {"reused_tokens", result.reused_tokens},
      {"reused_from_disk", result.reused_from_disk},
      {"reuse", result.reuse},
      {"resumed_tokens", result.resumed_tokens},
      {"generated_tokens", result.ids.size()},
      {"first_token_ms", result.first_token_ms},
      {"prefill_tok_s", result.prefill_tok_s},
      {"decode_tok_s", result.decode_tok_s}});
}

std::string reused_text(int64_t reused, int64_t from_disk) {
  if (reused == 0) {
    return "none reused";
  }
  const std::string text = std::to_string(reused) + " reused, ";
  return from_disk == 0 ? text + "from memory"
      : from_disk == reused
      ? text + "from disk"
      : text + std::to_string(from_disk) + " of them from disk";
}

} // namespace holdfast::app
