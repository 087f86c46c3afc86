// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/generate.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/engine/forward.h"
#include "holdfast/engine/sequence.h"
#include "holdfast/engine/text_record.h"

namespace holdfast {

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

/// A sequence's row, which it leaves at the latest when destroyed.
class Row {
 public:
  Row(const Generator& generator,
      const SequenceRules& rules,
      std::vector<int32_t> prompt)
      : sequence(rules, std::move(prompt)),
        generator_(generator),
        state_(generator.state),
        cache_(generator.cache),
        id_(begin()) {}
  ~Row() {
    leave();
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  RowId id() const {
    return id_;
  }
  /// Says that they were committed.
  void grew(std::span<const int32_t> tokens) {
    if (cache_) {
      committed_.insert(committed_.end(), tokens.begin(), tokens.end());
      cache_->grew(id_, {committed_});
    }
  }
  /// Gives the row's state to whoever comes next, and leaves.
  void finish() {
    if (cache_ && !left_ && !committed_.empty()) {
      keep();
    }
    leave();
  }
  void leave() {
    if (!std::exchange(left_, true)) {
      state_.remove_row(id_);
    }
  }

  Sequence sequence;
  Clock::time_point fed; // its first token began
  Clock::time_point first; // its first choice
  Clock::time_point last;

 private:
  void keep() {
    try {
      cache_->put(
          id_,
          {committed_},
          text_record(
              *cache_,
              generator_.tokenizer,
              generator_.model_name,
              committed_));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfBudget) {
        throw;
      }
      cache_->put(id_, {committed_}); // its state alone
    }
  }
  RowId begin() {
    if (!cache_) {
      return state_.add_row();
    }
    Generation& result = sequence.result();
    const Begun begun = cache_->begin({result.prompt_ids});
    const int64_t reused = begun.reused.get();
    sequence.advance(reused);
    committed_.assign(
        result.prompt_ids.begin(), result.prompt_ids.begin() + reused);
    result.reused_tokens = reused;
    result.reused_from_disk = begun.why.from_disk.get();
    result.reuse = begun.why.line();
    return begun.row;
  }

  const Generator& generator_;
  State& state_;
  PrefixCache* const cache_;
  std::vector<int32_t> committed_; // where there is a cache
  const RowId id_;
  bool left_ = false;
};

using Rows = std::vector<std::unique_ptr<Row>>;

class Run {
 public:
  Run(Generator& generator, const GenerateHooks& hooks, Rows& rows)
      : generator_(generator), hooks_(hooks), rows_(rows) {
    for (const auto& row : rows_) {
      const Generation& result = row->sequence.result();
      total_ += std::ssize(result.prompt_ids) - result.reused_tokens;
    }
  }

  void prefill(int64_t chunk) {
    report();
    for (auto parts = next_chunk(chunk); !parts.empty() && !interrupted();
         parts = next_chunk(chunk)) {
      step(parts);
      report();
    }
  }

  void decode() {
    for (auto parts = unfinished(); !parts.empty(); parts = unfinished()) {
      if (interrupted()) {
        end(FinishReason::kInterrupted);
        return;
      }
      step(parts);
    }
  }

  /// Ends what is not finished.
  void end(FinishReason reason) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i]->sequence.finished()) {
        emit(i, rows_[i]->sequence.finish(reason));
      }
    }
  }

  bool interrupted() const {
    return hooks_.interrupted != nullptr && hooks_.interrupted->load();
  }

  Clock::time_point begun() const {
    return begun_;
  }

 private:
  struct Part {
    size_t index; // into rows_
    std::span<const int32_t> tokens;
  };

  /// Up to `chunk` tokens of the prompts, in order.
  std::vector<Part> next_chunk(int64_t chunk) const {
    std::vector<Part> parts;
    for (size_t i = 0; i < rows_.size() && chunk > 0; ++i) {
      if (rows_[i]->sequence.prefilling()) {
        const Row& row = *rows_[i];
        // A row whose precision changes ends its part there.
        parts.push_back(
            {i,
             row.sequence.pending(
                 std::min(chunk, generator_.state.max_append(row.id())))});
        chunk -= std::ssize(parts.back().tokens);
      }
    }
    return parts;
  }

  std::vector<Part> unfinished() const {
    std::vector<Part> parts;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i]->sequence.finished()) {
        parts.push_back({i, rows_[i]->sequence.pending(1)});
      }
    }
    return parts;
  }

  void step(std::span<const Part> parts) {
    const Clock::time_point before = Clock::now();
    std::vector<RowTokens> feed;
    std::vector<size_t> choosing; // rows whose last token is fed
    for (const Part& part : parts) {
      Row& row = *rows_[part.index];
      if (row.fed == Clock::time_point()) {
        row.fed = before;
      }
      const bool was_prefilling = row.sequence.prefilling();
      row.sequence.advance(std::ssize(part.tokens));
      fed_ += was_prefilling ? std::ssize(part.tokens) : 0;
      const bool chooses = !row.sequence.prefilling();
      feed.push_back({row.id(), part.tokens, chooses ? 1 : 0});
      if (chooses) {
        choosing.push_back(part.index);
      }
    }
    const Logits logits = run_step(generator_.model, generator_.state, feed);
    for (const Part& part : parts) {
      rows_[part.index]->grew(part.tokens);
    }
    choose(logits, choosing);
    for (const size_t index : choosing) {
      accept(index);
    }
  }

  void choose(const Logits& logits, std::span<const size_t> rows) {
    const auto one = [&](int64_t i, int) {
      rows_[rows[static_cast<size_t>(i)]]->sequence.choose(logits.row(i));
    };
    if (rows.size() == 1) {
      one(0, 0);
    } else if (!rows.empty()) {
      generator_.runtime.executor->for_each(std::ssize(rows), one);
    }
  }

  void accept(size_t index) {
    Row& row = *rows_[index];
    row.last = Clock::now();
    if (row.first == Clock::time_point()) {
      row.first = row.last;
    }
    emit(index, row.sequence.accept());
    if (row.sequence.finished()) {
      row.finish();
    }
  }

  void emit(size_t index, const std::string& text) const {
    if (hooks_.text && !text.empty()) {
      hooks_.text(static_cast<int64_t>(index), text);
    }
  }
  void report() const {
    if (hooks_.prefill) {
      hooks_.prefill(fed_, total_);
    }
  }

  Generator& generator_;
  const GenerateHooks& hooks_;
  Rows& rows_;
  const Clock::time_point begun_ = Clock::now();
  int64_t total_ = 0; // prompt tokens of all rows
  int64_t fed_ = 0;
};

void require_fits(
    const std::vector<std::vector<int32_t>>& prompts,
    int64_t context) {
  for (size_t i = 0; i < prompts.size(); ++i) {
    const std::string which =
        prompts.size() == 1 ? "" : " (prompt " + std::to_string(i) + ")";
    const int64_t size = std::ssize(prompts[i]);
    if (size == 0) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[generate] expected a prompt of at least one token, got an empty "
          "one" +
              which);
    }
    if (size > context) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[generate] expected a prompt of at most " + std::to_string(context) +
              " tokens (the context), got " + std::to_string(size) + which);
    }
  }
}

void add_timings(const Row& row, Clock::time_point begun, Generation& result) {
  if (result.ids.empty()) {
    return;
  }
  const auto rate = [](size_t tokens, Clock::duration time) {
    const double s = seconds(time);
    return s > 0 ? static_cast<double>(tokens) / s : 0.0;
  };
  result.first_token_ms = 1e3 * seconds(row.first - begun);
  result.prefill_tok_s = rate(
      result.prompt_ids.size() - static_cast<size_t>(result.reused_tokens),
      row.first - row.fed);
  result.decode_tok_s = rate(result.ids.size() - 1, row.last - row.first);
}

} // namespace

std::vector<Generation> Generator::run(
    std::vector<std::vector<int32_t>> prompts,
    const GenerateOptions& options,
    const GenerateHooks& hooks) {
  options.validate();
  const int64_t context =
      options.context > 0 ? options.context : model.config().context;
  require_fits(prompts, context);
  const SequenceRules rules{
      tokenizer, end_tokens, options, context, runtime.path};
  Rows rows;
  for (auto& prompt : prompts) {
    rows.push_back(std::make_unique<Row>(*this, rules, std::move(prompt)));
  }
  Run run(*this, hooks, rows);
  try {
    run.prefill(options.chunk);
    run.decode();
  } catch (const Error& error) {
    if (hooks.failure == nullptr) {
      throw;
    }
    *hooks.failure = error;
    run.end(FinishReason::kFailed);
  }
  for (const auto& row : rows) {
    row->finish(); // what an interrupted one computed is of use too
  }

  std::vector<Generation> results;
  for (const auto& row : rows) {
    results.push_back(std::move(row->sequence.result()));
    add_timings(*row, run.begun(), results.back());
  }
  return results;
}

} // namespace holdfast
