// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Sequence: captured, and made again.

#include <algorithm>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/engine/sequence.h"

namespace holdfast {

namespace {

/// The chosen one and the most likely ones of each token, or none.
int64_t logged_per_token(const SequenceRules& rules) {
  const auto& asked = rules.options.logprobs;
  return asked ? 1 + std::min(*asked, rules.choices()) : 0;
}

void require(bool as_captured, const char* what) {
  if (!as_captured) {
    throw Error(
        ErrorCode::kCorrupt,
        std::string("[resume] expected ") + what + ", got another");
  }
}

TokenLogprobs logged(const ResumeRow& row, size_t index) {
  const auto per = static_cast<size_t>(row.logged);
  const auto at = [&](size_t place) {
    const size_t i = index * per + place;
    return TokenLogprob{row.logged_ids[i], row.logged_values[i]};
  };
  TokenLogprobs result;
  result.chosen = at(0);
  for (size_t place = 1; place < per; ++place) {
    result.top.push_back(at(place));
  }
  return result;
}

} // namespace

ResumeRow Sequence::capture() const {
  ResumeRow row;
  row.prompt = result_.prompt_ids;
  const auto accepted = static_cast<size_t>(accepted_);
  row.ids.assign(result_.ids.begin(), result_.ids.begin() + accepted_);
  row.logged = logged_per_token(rules_);
  for (size_t i = 0; row.logged > 0 && i < accepted; ++i) {
    const TokenLogprobs& token = result_.logprobs[i];
    row.logged_ids.push_back(token.chosen.id);
    row.logged_values.push_back(token.chosen.logprob);
    for (const TokenLogprob& other : token.top) {
      row.logged_ids.push_back(other.id);
      row.logged_values.push_back(other.logprob);
    }
  }
  row.text = result_.text;
  row.held = held();
  row.finished = finished_;
  return row;
}

void Sequence::restore(const ResumeRow& row) {
  expect(
      fed_ == 0 && result_.ids.empty(),
      "[resume] expected a sequence that has not begun, got another");
  require(row.prompt == result_.prompt_ids, "the prompt of the sequence");
  require(
      row.logged == logged_per_token(rules_),
      "as many log-probabilities a token as are asked for");
  const int64_t prompt = std::ssize(row.prompt);
  for (size_t i = 0; i < row.ids.size(); ++i) {
    require(
        !finished_ && row.ids[i] >= 0 && row.ids[i] < rules_.choices(),
        "tokens of the vocabulary, none after the end of the text");
    fed_ = prompt + static_cast<int64_t>(i);
    if (row.logged > 0) {
      result_.logprobs.push_back(logged(row, i));
      require(
          result_.logprobs.back().chosen.id == row.ids[i],
          "the log-probability of each token");
    }
    take(row.ids[i]);
    accept();
  }
  fed_ = 0;
  require(
      row.text == result_.text && row.held == held() &&
          row.finished == finished_,
      "the text of the tokens");
  result_.resumed_tokens = std::ssize(row.ids);
}

} // namespace holdfast
