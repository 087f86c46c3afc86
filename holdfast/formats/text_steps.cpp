// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/text_steps.h"

#include "holdfast/base/check.h"

namespace holdfast {
namespace {

/// Bytes that all steps together may add to a text: steps that double it would
/// soon fill any memory.
constexpr size_t kMostGrowth = size_t{1} << 26;

void require_growth(size_t from, size_t to) {
  if (to > from && to - from > kMostGrowth) {
    throw Error(
        ErrorCode::kOutOfBudget,
        "[tokenizer] normalizer: expected a text that grows by at most 64 MiB, "
        "got more");
  }
}

void append_pattern_replaced(
    std::string_view text,
    const TextStep& step,
    PatternMatcher& matcher,
    std::string& result) {
  size_t copied = 0;
  while (copied < text.size()) {
    const auto match = matcher.find(*step.pattern, text, copied);
    if (!match) {
      break;
    }
    result.append(text.substr(copied, match->begin - copied));
    result.append(step.to);
    copied = match->end;
    require_growth(text.size(), result.size());
  }
  result.append(text.substr(copied));
}

void append_step(
    std::string_view text,
    const TextStep& step,
    StretchPlace place,
    PatternMatcher& matcher,
    std::string& result) {
  switch (step.kind) {
    case TextStep::Kind::kForm:
      return append_normalized(text, step.form, result);
    case TextStep::Kind::kLower:
      return append_lower(text, result);
    case TextStep::Kind::kReplace:
      return append_pattern_replaced(text, step, matcher, result);
    case TextStep::Kind::kStrip:
      text = step.left ? without_left_space(text) : text;
      text = step.right ? without_right_space(text) : text;
      break;
    case TextStep::Kind::kPrefix:
      if (text.starts_with(step.to) ||
          (step.first_only && place != StretchPlace::kStart)) {
        break;
      }
      [[fallthrough]];
    case TextStep::Kind::kPrepend:
      if (!text.empty() && place != StretchPlace::kGoesOn) {
        result.append(step.to);
      }
  }
  result.append(text);
}

} // namespace

std::string_view TextSteps::apply(
    std::string_view text,
    StretchPlace place,
    PatternMatcher& matcher,
    std::string& memory) const {
  std::string other;
  bool changed = false;
  for (const TextStep& step : steps_) {
    other.clear();
    append_step(changed ? memory : text, step, place, matcher, other);
    memory.swap(other);
    changed = true;
    require_growth(text.size(), memory.size());
  }
  return changed ? std::string_view(memory) : text;
}

} // namespace holdfast
