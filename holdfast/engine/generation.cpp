// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/generation.h"

#include "holdfast/base/status.h"

namespace holdfast {

namespace {

void require(int64_t value, int64_t least, const char* option) {
  if (value < least) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string("[generate] expected ") + option + " of at least " +
            std::to_string(least) + ", got " + std::to_string(value));
  }
}

} // namespace

void GenerateOptions::validate() const {
  require(max_tokens, 1, "max-tokens");
  require(chunk, 1, "chunk");
  require(context, 0, "context");
  require(logprobs.value_or(0), 0, "logprobs");
  sampling.validate();
}

} // namespace holdfast
