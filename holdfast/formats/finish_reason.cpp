// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/finish_reason.h"

#include <array>

namespace holdfast {

namespace {

/// As the values of the type are in order.
constexpr std::array kNames =
    {"eos", "stop", "length", "context", "interrupted", "failed"};

} // namespace

const char* name(FinishReason reason) {
  return kNames[static_cast<size_t>(reason)];
}

std::optional<FinishReason> finish_reason(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) {
      return static_cast<FinishReason>(i);
    }
  }
  return std::nullopt;
}

} // namespace holdfast
