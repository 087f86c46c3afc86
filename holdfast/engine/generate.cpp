// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/generate.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/engine/forward.h"
#include "holdfast/engine/generate_row.h"
#include "holdfast/engine/resumable_run.h"
#include "holdfast/engine/resume_fields.h"

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
      keep_when_due(fed_in(parts));
    }
  }

  /// Gives out what an interrupted run had given out.
  void repeat() const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      emit(i, rows_[i]->sequence.result().text);
    }
  }

  void decode(int64_t chunk) {
    for (auto parts = unfinished(); !parts.empty(); parts = unfinished()) {
      if (interrupted()) {
        keep_last();
        end(FinishReason::kInterrupted);
        return;
      }
      if (std::exchange(began_anew_, false)) {
        prefill(chunk);
        continue;
      }
      step(parts);
      keep_when_due(1);
    }
  }

  /// So that a run which ends before its first checkpoint is due is known, with
  /// its seed; and one that goes on, though what it read is removed: an older
  /// attempt's write that it overtook.
  void keep_first() {
    if (hooks_.resumable) {
      keep();
    }
  }

  /// The last checkpoint of a run that ends early, and those for what it left.
  void keep_last() {
    if (hooks_.resumable) {
      hooks_.resumable->make_room();
      keep();
      while (hooks_.resumable->catches_up() && hooks_.resumable->make_room()) {
        keep();
      }
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
    Logits logits;
    try {
      logits = run_step(generator_.model, generator_.state, feed);
    } catch (const Error& error) {
      take_back(parts);
      if (error.code() != ErrorCode::kCorrupt || !begin_anew()) {
        throw;
      }
      return;
    }
    for (const Part& part : parts) {
      rows_[part.index]->grew(part.tokens);
    }
    choose(logits, choosing);
    for (const size_t index : choosing) {
      accept(index);
    }
  }

  /// Nothing of the step happened.
  void take_back(std::span<const Part> parts) {
    for (const Part& part : parts) {
      Sequence& sequence = rows_[part.index]->sequence;
      sequence.advance(-std::ssize(part.tokens));
      fed_ -= sequence.prefilling() ? std::ssize(part.tokens) : 0;
    }
  }

  /// Another process cut short what rows read of the disk: these begin anew and
  /// compute it again. False where the step failed for another reason, or a
  /// row's did so twice.
  bool begin_anew() {
    bool any = false;
    for (const auto& row : rows_) {
      if (row->begin_anew()) {
        any = true;
        total_ += row->sequence.to_prefill();
      }
    }
    began_anew_ = began_anew_ || any;
    return any;
  }

  static int64_t fed_in(std::span<const Part> parts) {
    int64_t sum = 0;
    for (const Part& part : parts) {
      sum += std::ssize(part.tokens);
    }
    return sum;
  }

  void keep_when_due(int64_t tokens) {
    if (hooks_.resumable && hooks_.resumable->due(tokens)) {
      keep();
    }
  }

  void keep() {
    std::vector<ResumeRow> points;
    std::vector<std::vector<int32_t>> paths;
    for (const auto& row : rows_) {
      points.push_back(row->sequence.capture());
      const auto held = row->committed();
      paths.emplace_back(held.begin(), held.end());
    }
    hooks_.resumable->save(std::move(points), paths);
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
  bool began_anew_ = false; // rows that decode() has not fed again
};

/// vocab: rows of the model's table.
void require_fits(
    const std::vector<std::vector<int32_t>>& prompts,
    int64_t context,
    int64_t vocab) {
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
    for (const int32_t token : prompts[i]) {
      if (token < 0 || token >= vocab) {
        throw Error(
            ErrorCode::kInvalidArgument,
            "[generate] expected tokens below " + std::to_string(vocab) +
                ", which the model knows, got " + std::to_string(token) +
                which);
      }
    }
  }
}

/// The prompts' rows; those of an interrupted run go on where it was.
GenerateRows begin_rows(
    const Generator& generator,
    const SequenceRules& rules,
    std::vector<std::vector<int32_t>> prompts,
    const GenerateHooks& hooks) {
  if (hooks.resumable) {
    expect(
        generator.cache == &hooks.resumable->cache(),
        "[generate] expected a resumable run of the generator's cache, got "
        "another's");
    hooks.resumable->begin(
        resume_fields(rules, generator.state.signature()), prompts);
  }
  GenerateRows rows;
  for (auto& prompt : prompts) {
    Sequence sequence(rules, std::move(prompt));
    if (hooks.resumable && hooks.resumable->point()) {
      sequence.restore(hooks.resumable->point()->rows[rows.size()]);
    }
    rows.push_back(
        std::make_unique<GenerateRow>(generator, std::move(sequence)));
  }
  return rows;
}

} // namespace

std::vector<Generation> Generator::run(
    std::vector<std::vector<int32_t>> prompts,
    const GenerateOptions& options,
    const GenerateHooks& hooks) {
  options.validate();
  const int64_t context =
      options.context > 0 ? options.context : model.config().context;
  const int64_t vocab = model.config().vocab;
  require_fits(prompts, context, vocab);
  const SequenceRules rules{
      tokenizer, end_tokens, options, context, runtime.path, vocab};
  GenerateRows rows = begin_rows(*this, rules, std::move(prompts), hooks);
  Run run(*this, hooks, rows);
  try {
    run.keep_first();
    run.repeat();
    run.prefill(options.chunk);
    run.decode(options.chunk);
  } catch (const Error& error) {
    if (hooks.failure == nullptr) {
      throw;
    }
    *hooks.failure = error;
    run.keep_last();
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
