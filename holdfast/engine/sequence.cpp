// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/sequence.h"

#include <algorithm>
#include <utility>

namespace holdfast {

Sequence::Sequence(const SequenceRules& rules, std::vector<int32_t> prompt)
    : rules_(rules),
      sampler_(rules.options.sampling, rules.choices(), rules.path),
      detokenizer_(
          rules.tokenizer,
          {.show_special = false,
           .after = prompt.empty() ? kNoToken : prompt.back()}),
      stops_(rules.options.stops) {
  for (const int32_t token : prompt) {
    sampler_.observe(token);
  }
  result_.prompt_ids = std::move(prompt);
}

std::span<const int32_t> Sequence::pending(int64_t most) const {
  const int64_t prompt = std::ssize(result_.prompt_ids);
  const std::span<const int32_t> rest = fed_ < prompt
      ? std::span(result_.prompt_ids).subspan(static_cast<size_t>(fed_))
      : std::span(result_.ids).subspan(static_cast<size_t>(fed_ - prompt));
  return rest.first(
      static_cast<size_t>(std::min<int64_t>(most, std::ssize(rest))));
}

std::vector<int32_t> Sequence::tokens() const {
  std::vector<int32_t> all = result_.prompt_ids;
  all.insert(all.end(), result_.ids.begin(), result_.ids.end());
  return all;
}

void Sequence::choose(std::span<const float> all) {
  const auto logits =
      all.first(std::min(all.size(), static_cast<size_t>(rules_.choices())));
  const int32_t token = sampler_.sample(logits, fed_);
  if (rules_.options.logprobs) {
    result_.logprobs.push_back(
        sampler_.logprobs(logits, token, *rules_.options.logprobs));
  }
  take(token);
}

void Sequence::take(int32_t token) {
  sampler_.observe(token);
  result_.ids.push_back(token);
}

std::string Sequence::accept() {
  const int32_t token = result_.ids.back();
  accepted_ = std::ssize(result_.ids);
  if (!rules_.options.ignore_eos && ends_text(token)) {
    return finish(FinishReason::kEos);
  }
  std::string text = stops_.push(detokenizer_.push(token));
  result_.text += text;
  if (stops_.stopped()) {
    return text + finish(FinishReason::kStop);
  }
  if (std::ssize(result_.ids) >= rules_.options.max_tokens) {
    return text + finish(FinishReason::kLength);
  }
  if (fed_ >= rules_.context) {
    return text + finish(FinishReason::kContext);
  }
  return text;
}

std::string Sequence::finish(FinishReason reason) {
  finished_ = true;
  result_.finish_reason = reason;
  std::string text;
  if (!stops_.stopped()) {
    text = stops_.push(detokenizer_.flush());
    text += stops_.flush();
    result_.text += text;
  }
  return text;
}

std::string Sequence::held() const {
  std::string held;
  if (!finished_) {
    held.append(stops_.held()).append(detokenizer_.held());
  }
  return held;
}

bool Sequence::ends_text(int32_t token) const {
  return std::ranges::find(rules_.end_tokens, token) != rules_.end_tokens.end();
}

} // namespace holdfast
