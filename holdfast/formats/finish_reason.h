// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How a text that is generated ended. Any thread.

#pragma once

#include <optional>
#include <string_view>

namespace holdfast {

enum class FinishReason {
  kEos, // the model ended the text
  kStop, // a stop string came
  kLength, // as many tokens as were asked for
  kContext, // no position is left
  kInterrupted,
  kFailed, // a step was refused
};
/// "eos", "stop", "length", "context", "interrupted" or "failed".
const char* name(FinishReason reason);
/// That of the name, or nothing.
std::optional<FinishReason> finish_reason(std::string_view name);

} // namespace holdfast
