// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/measure/persist_trial.h"

#include <algorithm>
#include <random>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/engine/forward.h"
#include "holdfast/env/pages.h"
#include "holdfast/measure/seconds.h"
#include "holdfast/rows/chain.h"

namespace holdfast::measure {

namespace {

constexpr int64_t kRowTokens = 128 * kBlockTokens; // of a row that is flushed

std::shared_ptr<const std::byte> random_image(Bytes bytes, uint64_t seed) {
  const auto image = allocate_pages(bytes.get());
  std::mt19937_64 random(seed);
  auto* words = reinterpret_cast<uint64_t*>(image.get());
  for (int64_t i = 0; i < bytes.get() / 8; ++i) {
    words[i] = random();
  }
  return image;
}

void require_durable(const FlushReport& report) {
  if (!report.durable) {
    throw Error(
        ErrorCode::kIo,
        "[measure] expected all state on the disk, got: " + report.text());
  }
}

/// A row of images that nobody computed, as though it had been.
struct RandomRow {
  std::vector<int32_t> tokens;
  RowId row;
  Bytes bytes;
};

RandomRow random_row(State& state, uint64_t seed) {
  RandomRow result;
  result.tokens = random_prompt(kRowTokens, 1 << 15, seed);
  ChainFacts facts{.committed = Position(kRowTokens), .phases = {}};
  for (const GroupRule& rule : state.groups().rules()) {
    facts.phases.push_back(std::count_if(
        rule.starts.begin(), rule.starts.end(), [](Position start) {
          return start <= Position(kRowTokens);
        }));
  }
  const Chain chain =
      Chain::restored(state.groups().rules(), kBlockTokens, facts);
  std::vector<std::vector<BlockRef>> held;
  for (int64_t group = 0; group < state.groups().size(); ++group) {
    const int64_t phase = facts.phases[static_cast<size_t>(group)];
    const Bytes size = state.groups()
                           .group(group)
                           .phases[static_cast<size_t>(phase)]
                           .layout.bytes();
    auto& blocks = held.emplace_back();
    for (int64_t block = 0; block < kRowTokens / kBlockTokens; ++block) {
      if (chain.held(group).holds(BlockIndex(block))) {
        blocks.push_back(
            state.adopt_image(group, phase, random_image(size, ++seed)));
        result.bytes += size;
      }
    }
  }
  result.row = state.adopt(state.assemble(result.tokens, facts, held));
  return result;
}

} // namespace

PersistTrial::PersistTrial(
    const LoadedModel& loaded,
    const RestoreSetup& setup,
    int64_t depth)
    : loaded_(loaded),
      setup_(setup),
      state_(make_state(loaded, setup.state)),
      cache_(open_cache(*state_, setup.folder)) {
  const int64_t vocabulary = loaded.model->config().vocab;
  const auto first = random_prompt(depth, vocabulary, 1);
  kept_.row = cache_->begin({.tokens = first}).row;
  kept_.kept = true;
  plain_.row = state_->add_row();
  feed(kept_, first);
  feed(plain_, random_prompt(depth, vocabulary, 2));
  cache_->put(kept_.row, {.tokens = kept_.committed});
  flush();
}

void PersistTrial::feed(Chat& chat, std::span<const int32_t> tokens) {
  while (!tokens.empty()) {
    const auto part = tokens.first(static_cast<size_t>(std::min(
        {std::ssize(tokens), setup_.chunk, state_->max_append(chat.row)})));
    run_step(
        *loaded_.model, *state_, std::vector<RowTokens>{{chat.row, part, 1}});
    chat.committed.insert(chat.committed.end(), part.begin(), part.end());
    if (chat.kept) {
      cache_->grew(chat.row, {.tokens = chat.committed});
    }
    tokens = tokens.subspan(part.size());
  }
}

double PersistTrial::decode(Chat& chat, int64_t tokens) {
  const auto drawn = random_prompt(
      tokens, loaded_.model->config().vocab, static_cast<uint64_t>(turns_ + 3));
  return time_of([&] {
    if (chat.kept) {
      cache_->put(chat.row, {.tokens = chat.committed});
    }
    for (const int32_t& token : drawn) {
      feed(chat, {&token, 1});
    }
  });
}

void PersistTrial::flush() {
  require_durable(cache_->flush());
}

PersistTrial::Turn PersistTrial::turn(int64_t tokens) {
  const Bytes before = cache_->written();
  Turn turn;
  // Who is first alternates: what warms or slows the machine hits both.
  if (turns_++ % 2 == 0) {
    turn.plain = decode(plain_, tokens);
  }
  turn.kept = decode(kept_, tokens);
  flush();
  if (turns_ % 2 == 0) {
    turn.plain = decode(plain_, tokens);
  }
  turn.written = cache_->written() - before;
  return turn;
}

Bytes PersistTrial::state_of(int64_t tokens) const {
  return Bytes(state_->bytes_per_token().get() * tokens);
}

Bytes PersistTrial::tail_bytes() const {
  Bytes sum;
  for (const LayerGroup& group : state_->groups().groups()) {
    sum += group.phases.back().layout.bytes();
  }
  return sum;
}

Flushed
flush_rows(const LoadedModel& loaded, const RestoreSetup& setup, Bytes bytes) {
  const auto state = make_state(loaded, setup.state);
  const auto cache = open_cache(*state, setup.folder);
  std::vector<RandomRow> rows;
  Bytes sum;
  while (sum < bytes) {
    rows.push_back(random_row(*state, 1000 * (rows.size() + 1)));
    sum += rows.back().bytes;
  }
  Flushed result;
  result.seconds = time_of([&] {
    for (const RandomRow& row : rows) {
      cache->put(row.row, {.tokens = row.tokens});
    }
    require_durable(cache->flush());
  });
  result.bytes = cache->written();
  return result;
}

} // namespace holdfast::measure
