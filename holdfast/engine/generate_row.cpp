// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/generate_row.h"

#include <algorithm>
#include <utility>

#include "holdfast/engine/text_record.h"

namespace holdfast {

namespace {

double seconds(GenerateRow::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

double rate(int64_t tokens, GenerateRow::Clock::duration time) {
  const double s = seconds(time);
  return s > 0 ? static_cast<double>(tokens) / s : 0.0;
}

} // namespace

GenerateRow::GenerateRow(const Generator& generator, Sequence begun)
    : sequence(std::move(begun)),
      generator_(generator),
      state_(generator.state),
      cache_(generator.cache),
      id_(begin()) {
  computed_ = sequence.ahead();
}

GenerateRow::~GenerateRow() {
  leave();
}

std::optional<RowId> GenerateRow::begin() {
  if (sequence.finished()) {
    return std::nullopt;
  }
  if (!cache_) {
    return state_.add_row();
  }
  std::vector<int32_t> tokens = sequence.tokens();
  const Begun begun = cache_->begin({tokens});
  const int64_t reused = begun.reused.get();
  sequence.advance(reused);
  Generation& result = sequence.result();
  result.reused_tokens = std::min(reused, std::ssize(result.prompt_ids));
  result.reused_from_disk =
      std::min(begun.why.from_disk.get(), result.reused_tokens);
  result.reuse = begun.why.line();
  tokens.resize(static_cast<size_t>(reused));
  committed_ = std::move(tokens);
  return begun.row;
}

bool GenerateRow::begin_anew() {
  if (!id_ || state_.intact(id()) || anew_) {
    return false;
  }
  leave();
  sequence.begin_anew();
  committed_.clear();
  id_ = begin(); // what is unreadable leaves the index there
  anew_ = true;
  if (first == Clock::time_point()) {
    computed_ += sequence.ahead();
  }
  return true;
}

void GenerateRow::grew(std::span<const int32_t> tokens) {
  anew_ = false;
  if (cache_) {
    committed_.insert(committed_.end(), tokens.begin(), tokens.end());
    cache_->grew(id(), {committed_});
  }
}

std::span<const int32_t> GenerateRow::committed() const {
  return id_ ? std::span<const int32_t>(committed_)
             : std::span<const int32_t>();
}

void GenerateRow::finish() {
  if (cache_ && id_ && !committed_.empty()) {
    keep();
  }
  leave();
}

void GenerateRow::keep() {
  if (!generator_.keeps_texts) {
    cache_->put(id(), {committed_});
    return;
  }
  try {
    cache_->put(
        id(),
        {committed_},
        text_record(
            *cache_, generator_.tokenizer, generator_.model_name, committed_));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfBudget) {
      throw;
    }
    cache_->put(id(), {committed_}); // its state alone
  }
}

void GenerateRow::leave() {
  if (id_) {
    state_.remove_row(*std::exchange(id_, std::nullopt));
  }
}

Generation GenerateRow::take_result(Clock::time_point begun) {
  Generation result = std::move(sequence.result());
  const int64_t chosen = std::ssize(result.ids) - result.resumed_tokens;
  if (chosen > 0) {
    result.first_token_ms = 1e3 * seconds(first - begun);
    result.prefill_tok_s = rate(computed_, first - fed);
    result.decode_tok_s = rate(chosen - 1, last - first);
  }
  return result;
}

} // namespace holdfast
