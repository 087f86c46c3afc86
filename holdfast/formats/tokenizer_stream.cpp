// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/tokenizer.h"

#include "holdfast/formats/utf8.h"

namespace holdfast {

std::string Detokenizer::push(TokenId id) {
  tokenizer_.check_id(id);
  tokenizer_.model_->append_text(id, show_special_, place_, pending_);
  std::string ready;
  size_t place = 0;
  while (place < pending_.size()) {
    const std::string_view rest = std::string_view(pending_).substr(place);
    const Utf8Step step = utf8_step(rest);
    if (step.state == Utf8State::kIncomplete) {
      break;
    }
    const auto length = static_cast<size_t>(step.length);
    ready.append(
        step.state == Utf8State::kValid ? rest.substr(0, length)
                                        : kReplacementCharacter);
    place += length;
  }
  pending_.erase(0, place);
  return ready;
}

std::string Detokenizer::flush() {
  std::string ready(pending_.empty() ? "" : kReplacementCharacter);
  pending_.clear();
  return ready;
}

} // namespace holdfast
