// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "tests/soak/soak_engine.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "mlx/transforms.h"

#include "tests/models/random_source.h"

namespace holdfast::test {

namespace {

namespace mx = mlx::core;

constexpr size_t kBatch = 8;
constexpr int64_t kChunk = 96;

std::span<const int32_t> all_but_last(const std::vector<int32_t>& tokens) {
  return std::span(tokens).first(tokens.size() - 1);
}

int32_t best_of(std::span<const float> logits) {
  return static_cast<int32_t>(
      std::ranges::max_element(logits) - logits.begin());
}

} // namespace

struct SoakEngine::Model {
  Model()
      : runtime{std::make_shared<Executor>(1), best_kernel_path()},
        source(
            small_gemma3(),
            {cpu::WeightFormat::Kind::kBf16, 0, 0, false},
            *runtime.executor),
        model(make_model(source, runtime)),
        state(options()),
        cold(options()) {}

  StateOptions options() const {
    const Codec* codec = find_codec("bf16").value();
    return {
        .layers = model->layers(),
        .precision = {.phases = always(codec, codec)},
        .runtime = runtime,
        .identity = {{"weights", "random"}}};
  }

  /// Logits of the last token of each row.
  std::vector<float> step(
      State& of,
      std::span<const RowAppend> rows,
      const std::vector<int32_t>& tokens) const {
    std::vector<int32_t> outputs;
    int32_t end = 0;
    for (const RowAppend& row : rows) {
      end += static_cast<int32_t>(row.count);
      outputs.push_back(end - 1);
    }
    Step step = of.begin(rows);
    mx::array logits = *model->forward(step, tokens, outputs);
    mx::eval({logits});
    step.commit_all();
    return {logits.data<float>(), logits.data<float>() + logits.size()};
  }

  const Runtime runtime;
  const RandomSource source;
  const std::unique_ptr<holdfast::Model> model;
  State state;
  State cold; // without a cache
  std::unique_ptr<PrefixCache> cache;
};

namespace {

/// A sequence while it is computed: tokens, the last not fed yet.
struct Running {
  RowId row;
  std::vector<int32_t> tokens;
  int64_t left = 0; // to generate
  std::vector<float> logits; // of all that were generated
};

void take(Running& running, std::span<const float> logits) {
  running.tokens.push_back(best_of(logits));
  running.logits.insert(running.logits.end(), logits.begin(), logits.end());
  --running.left;
}

/// Computes what the row lacks of its tokens, and the first to follow.
template <class Model>
void prefill(
    const Model& model,
    State& state,
    Running& running,
    const std::function<void(const Running&)>& grew) {
  std::vector<float> logits;
  const int64_t size = std::ssize(running.tokens);
  for (int64_t done = state.length(running.row).get(); done < size;) {
    const int64_t count =
        std::min({kChunk, size - done, state.max_append(running.row)});
    const auto begin = running.tokens.begin() + done;
    const RowAppend append{running.row, count};
    logits = model.step(state, {&append, 1}, {begin, begin + count});
    done += count;
    grew(running);
  }
  take(running, logits);
}

template <class Model>
void decode(const Model& model, State& state, std::span<Running> rows) {
  std::vector<RowAppend> appends;
  std::vector<int32_t> tokens;
  for (const Running& running : rows) {
    if (running.left > 0) {
      appends.push_back({running.row, 1});
      tokens.push_back(running.tokens.back());
    }
  }
  const std::vector<float> logits = model.step(state, appends, tokens);
  const size_t vocab = logits.size() / appends.size();
  size_t at = 0;
  for (Running& running : rows) {
    if (running.left > 0) {
      take(running, std::span(logits).subspan(vocab * at++, vocab));
    }
  }
}

bool any_left(std::span<const Running> rows) {
  return std::ranges::any_of(
      rows, [](const Running& running) { return running.left > 0; });
}

bool same_as(const Running& a, const Running& b) {
  return a.tokens == b.tokens && a.logits.size() == b.logits.size() &&
      std::memcmp(
          a.logits.data(), b.logits.data(), a.logits.size() * sizeof(float)) ==
      0;
}

} // namespace

SoakEngine::SoakEngine() : thread_([this] { work(); }) {}

SoakEngine::~SoakEngine() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void SoakEngine::work() {
  Model model;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(
        lock, [&] { return stop_ || !tasks_.empty() || !waiting_.empty(); });
    if (!tasks_.empty()) {
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task(model);
      lock.lock();
    } else if (!waiting_.empty()) {
      std::vector<Waiting> batch;
      while (!waiting_.empty() && batch.size() < kBatch) {
        batch.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
      }
      lock.unlock();
      serve(model, batch);
      lock.lock();
    } else {
      return;
    }
  }
}

void SoakEngine::serve(Model& model, std::vector<Waiting>& batch) {
  PrefixCache& cache = *model.cache;
  State& state = model.state;
  std::vector<Running> rows;
  std::vector<SoakAnswer> answers;
  for (const Waiting& waiting : batch) {
    const Begun begun = cache.begin({waiting.request.tokens});
    rows.push_back(
        {begun.row, waiting.request.tokens, waiting.request.more, {}});
    answers.push_back({.reused = begun.reused.get()});
    prefill(model, state, rows.back(), [&](const Running& running) {
      const auto done = static_cast<size_t>(state.length(running.row).get());
      cache.grew(running.row, {std::span(running.tokens).first(done)});
    });
  }
  while (any_left(rows)) {
    decode(model, state, rows);
    for (const Running& running : rows) {
      const auto done = static_cast<size_t>(state.length(running.row).get());
      cache.grew(running.row, {std::span(running.tokens).first(done)});
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    cache.put(rows[i].row, {all_but_last(rows[i].tokens)});
    state.remove_row(rows[i].row);
    if (batch[i].request.compare) {
      Running alone{
          model.cold.add_row(),
          batch[i].request.tokens,
          batch[i].request.more,
          {}};
      prefill(model, model.cold, alone, [](const Running&) {});
      while (alone.left > 0) {
        decode(model, model.cold, {&alone, 1});
      }
      model.cold.remove_row(alone.row);
      answers[i].same = same_as(rows[i], alone);
    }
    answers[i].tokens.assign(
        rows[i].tokens.end() - batch[i].request.more, rows[i].tokens.end());
    batch[i].answer.set_value(std::move(answers[i]));
  }
}

SoakAnswer SoakEngine::answer(SoakRequest request) {
  Waiting waiting{std::move(request), {}};
  std::future<SoakAnswer> answer = waiting.answer.get_future();
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(waiting));
  }
  wake_.notify_one();
  return answer.get();
}

void SoakEngine::run(const std::function<void(State&, PrefixCache*)>& work) {
  std::packaged_task<void(Model&)> task(
      [&](Model& model) { work(model.state, model.cache.get()); });
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
  done.get();
}

void SoakEngine::set_disk(
    std::shared_ptr<DiskTier> disk,
    std::shared_ptr<SharedRam> ram) {
  std::packaged_task<void(Model&)> task([&](Model& model) {
    model.cache.reset();
    if (disk) {
      PrefixCacheOptions options;
      options.shared_ram = std::move(ram);
      options.disk = std::move(disk);
      model.cache =
          std::make_unique<PrefixCache>(model.state, std::move(options));
    }
  });
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
  done.get();
}

} // namespace holdfast::test
