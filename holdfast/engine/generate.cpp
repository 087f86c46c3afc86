// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/generate.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/engine/forward.h"
#include "holdfast/engine/generate_row.h"

namespace holdfast {

namespace {

using Clock = GenerateRow::Clock;

class Run {
 public:
  Run(Generator& generator, const GenerateHooks& hooks, GenerateRows& rows)
      : generator_(generator), hooks_(hooks), rows_(rows) {
    for (const auto& row : rows_) {
      total_ += is_prefilling(*row) ? row->sequence.to_prefill() : 0;
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

  /// Gives out what an interrupted run had given out.
  void repeat() const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      emit(i, rows_[i]->sequence.result().text);
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

  static bool is_prefilling(const GenerateRow& row) {
    return !row.sequence.finished() && row.sequence.prefilling();
  }

  /// Up to `chunk` tokens of the prompts, in order.
  std::vector<Part> next_chunk(int64_t chunk) const {
    std::vector<Part> parts;
    for (size_t i = 0; i < rows_.size() && chunk > 0; ++i) {
      if (is_prefilling(*rows_[i])) {
        const GenerateRow& row = *rows_[i];
        // A row whose precision changes ends its part there.
        const int64_t most = std::min(
            {chunk,
             row.sequence.to_prefill(),
             generator_.state.max_append(row.id())});
        parts.push_back({i, row.sequence.pending(most)});
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
      GenerateRow& row = *rows_[part.index];
      if (row.fed == Clock::time_point()) {
        row.fed = before;
      }
      const bool was_prefilling = row.sequence.prefilling();
      row.sequence.advance(std::ssize(part.tokens));
      fed_ += was_prefilling ? std::ssize(part.tokens) : 0;
      const bool chooses = row.sequence.ahead() == 0;
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
    GenerateRow& row = *rows_[index];
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
  GenerateRows& rows_;
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
  GenerateRows rows;
  for (auto& prompt : prompts) {
    rows.push_back(std::make_unique<GenerateRow>(
        *this, Sequence(rules, std::move(prompt))));
  }
  Run run(*this, hooks, rows);
  try {
    run.repeat();
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
    results.push_back(row->take_result(run.begun()));
  }
  return results;
}

} // namespace holdfast
