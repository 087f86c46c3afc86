// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A turn of a conversation that was answered: what the next one goes on from.
// A value; any thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/formats/chat_template.h"
#include "holdfast/formats/finish_reason.h"

namespace holdfast {

struct AnsweredTurn {
  std::vector<ChatMessage> messages; // up to the user's
  std::vector<int32_t> prompt; // all tokens before the answer
  std::vector<int32_t> ids; // the answer's, an end token included
  std::string text; // the answer's, as generated
  FinishReason finish = FinishReason::kEos;
};

} // namespace holdfast
