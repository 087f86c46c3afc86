// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "tests/models/branches.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "holdfast/kernels/cpu/attend_share.h"
#include "holdfast/kernels/cpu/latent_plan.h"

namespace holdfast::test {

namespace {

/// The logits of every token of a step that is open.
std::vector<float>
logits_of(const Model& model, Step& step, const std::vector<int32_t>& tokens) {
  std::vector<int32_t> outputs(tokens.size());
  std::iota(outputs.begin(), outputs.end(), 0);
  auto logits = *model.forward(step, tokens, outputs);
  mx::eval({logits});
  return {logits.data<float>(), logits.data<float>() + logits.size()};
}

std::vector<int32_t>
random_tokens(int64_t count, int64_t vocab, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(
        static_cast<int32_t>(random() % static_cast<uint32_t>(vocab)));
  }
  return tokens;
}

int64_t shared_reads_of(
    const AttentionSpec& spec,
    std::span<const RowSpan> rows,
    std::span<const RowBlocks> blocks) {
  if (!spec.latent) {
    return std::ssize(cpu::find_shared(
                          {.query_heads = spec.query_heads / spec.kv_heads,
                           .visibility = spec.visibility},
                          rows,
                          blocks)
                          .runs);
  }
  cpu::LatentJob job;
  job.spec = &spec;
  job.rows = rows;
  job.blocks = blocks;
  return std::ranges::count_if(
      cpu::plan_latent(job, 2),
      [](const cpu::LatentPiece& piece) { return piece.shared_end > 0; });
}

} // namespace

Branches::Branches(const Choice& choice)
    : model_(model_of(choice.family)),
      options_(options_of(choice, kBranchStart)),
      placed_(place_where_it_fits(options_, choice, kBranchStart)) {
  const auto trunk = random_tokens(kTrunk, vocab(), 1);
  for (size_t b = 0; b < kBranches; ++b) {
    texts_[b] = trunk;
    const auto own =
        random_tokens(kEnd - kTrunk, vocab(), static_cast<uint32_t>(b + 2));
    texts_[b].insert(texts_[b].end(), own.begin(), own.end());
  }
  if (placed_) {
    state_.emplace(options_);
  }
}

bool Branches::sees_all() const {
  return std::ranges::any_of(options_.layers, [](const LayerSpec& layer) {
    const auto* spec = std::get_if<AttentionSpec>(&layer);
    return spec != nullptr && spec->visibility.window == 0;
  });
}

void Branches::run_cold() {
  for (size_t b = 0; b < kBranches; ++b) {
    State state(options_);
    const RowId row = state.add_row();
    for (int64_t from = 0; from < kEnd;) {
      const int64_t count = std::min(kEnd - from, state.max_append(row));
      const RowAppend append{row, count};
      Step step = state.begin({&append, 1});
      const auto logits = logits_of(
          model_,
          step,
          {texts_[b].begin() + from, texts_[b].begin() + from + count});
      step.commit_all();
      cold_[b].insert(cold_[b].end(), logits.begin(), logits.end());
      from += count;
    }
  }
}

std::vector<int32_t> Branches::tokens_of(const Draft& draft) const {
  const auto& text = texts_[draft.branch];
  std::vector<int32_t> tokens(
      text.begin() + draft.from, text.begin() + draft.from + draft.part.right);
  for (int64_t i = 0; i < draft.part.wrong; ++i) {
    const size_t at = static_cast<size_t>(draft.from + draft.part.right + i);
    const int32_t right = text[at % text.size()];
    tokens.push_back((right + 1) % static_cast<int32_t>(vocab()));
  }
  return tokens;
}

void Branches::expect_cold(const Draft& draft, std::span<const float> logits)
    const {
  const auto width = static_cast<size_t>(vocab());
  for (int64_t i = 0; i < draft.part.right; ++i) {
    const auto at = static_cast<size_t>(draft.from + i);
    ASSERT_EQ(
        std::memcmp(
            logits.data() + static_cast<size_t>(i) * width,
            cold_[draft.branch].data() + at * width,
            width * sizeof(float)),
        0)
        << "branch " << draft.branch << ", position " << at;
  }
}

void Branches::step(
    const Model& model,
    const std::vector<Draft>& all,
    bool commits) {
  std::vector<RowAppend> appends;
  std::vector<int32_t> tokens;
  std::vector<int64_t> accepted;
  for (const Draft& draft : all) {
    const auto own = tokens_of(draft);
    appends.push_back({draft.row, std::ssize(own)});
    tokens.insert(tokens.end(), own.begin(), own.end());
    accepted.push_back(draft.part.right);
  }
  Step step = state_->begin(appends);
  const auto logits = logits_of(model, step, tokens);
  if (commits) {
    step.commit(accepted);
  }
  auto rest = std::span<const float>(logits);
  for (const Draft& draft : all) {
    expect_cold(draft, rest);
    rest = rest.subspan(
        static_cast<size_t>((draft.part.right + draft.part.wrong) * vocab()));
  }
}

RowId Branches::run_chunks(size_t branch, int64_t chunk, int64_t end) {
  const RowId row = state_->add_row();
  for (int64_t from = 0; from < end && !testing::Test::HasFatalFailure();) {
    const int64_t count =
        std::min({chunk, end - from, state_->max_append(row)});
    step(model_, {{row, branch, from, {.right = count}}}, true);
    from += count;
  }
  return row;
}

void Branches::run_beside_neighbours(size_t branch) {
  const RowId longer = state_->add_row();
  const RowId row = state_->add_row();
  const RowId shorter = state_->add_row();
  // A neighbour's text is another branch's beginning.
  const size_t other = (branch + 1) % kBranches;
  step(
      model_,
      {{longer, other, 0, {.right = 150}}, {shorter, branch, 0, {.right = 2}}},
      true);
  int64_t ahead = 150;
  int64_t behind = 2;
  for (int64_t from = 0; from < kEnd && !testing::Test::HasFatalFailure();) {
    const int64_t chunk = from < 270 ? 90 : 5;
    const int64_t count =
        std::min({chunk, kEnd - from, state_->max_append(row)});
    step(
        model_,
        {{longer, other, ahead, {.right = 7}},
         {row, branch, from, {.right = count}},
         {shorter, branch, behind, {.right = 1}}},
        true);
    from += count;
    ahead += 7;
    behind += 1;
  }
  for (const RowId each : {longer, row, shorter}) {
    remove(each);
  }
}

std::vector<Branches::Draft>
Branches::drafts(const std::vector<RowId>& rows, const Round& round) const {
  std::vector<Draft> all;
  for (size_t b = 0; b < rows.size(); ++b) {
    const int64_t from = state_->length(rows[b]).get();
    const int64_t most = state_->max_append(rows[b]);
    Part part = round.parts[b];
    part.right = std::min({part.right, kEnd - from, most});
    part.wrong = std::min(part.wrong, most - part.right);
    if (from < kEnd && part.right + part.wrong > 0) {
      all.push_back({rows[b], b, from, part});
    }
  }
  return all;
}

void Branches::run_branches(
    const Model& model,
    const std::vector<RowId>& rows,
    std::span<const Round> rounds) {
  steps_ = alike_steps_ = shared_steps_ = 0;
  const auto open = [&] {
    return std::ranges::any_of(
        rows, [&](RowId row) { return state_->length(row) < Position(kEnd); });
  };
  for (size_t n = 0; open() && !testing::Test::HasFatalFailure(); ++n) {
    const Round& round = rounds[n % rounds.size()];
    const auto all = drafts(rows, round);
    if (all.empty()) {
      continue;
    }
    step(model, all, round.commits);
    ++steps_;
    const auto late = std::ranges::count_if(
        all, [](const Draft& draft) { return draft.from >= kBranchStart; });
    if (all.size() == kBranches && (late == 0 || late == std::ssize(all))) {
      ++alike_steps_;
      shared_steps_ += shared_reads(all) > 0 ? 1 : 0;
    }
  }
  for (const RowId row : rows) {
    remove(row);
  }
}

void Branches::run_to_end(const Model& model, RowId row, size_t branch) {
  for (int64_t from = state_->length(row).get();
       from < kEnd && !testing::Test::HasFatalFailure();
       ++from) {
    step(model, {{row, branch, from, {.right = 1}}}, true);
  }
  remove(row);
}

// Blocks below a step's tokens are those that it read: a change of precision
// comes with the next step.
int64_t Branches::shared_reads(const std::vector<Draft>& all) {
  const LayerGroups& groups = state_->groups();
  std::vector<RowSpan> spans;
  std::vector<std::vector<RowBlocks>> blocks(
      static_cast<size_t>(groups.size())); // [group][row]
  for (const Draft& draft : all) {
    spans.push_back(
        {.count = draft.part.right + draft.part.wrong, .start = draft.from});
    const auto& text = texts_[draft.branch];
    const auto length = static_cast<size_t>(state_->length(draft.row).get());
    const Snapshot taken =
        state_->snapshot(draft.row, std::span(text).first(length));
    for (size_t group = 0; group < blocks.size(); ++group) {
      RowBlocks& images = blocks[group].emplace_back();
      for (const BlockRef& block : taken.row().blocks[group]) {
        images.images.push_back(
            block ? const_cast<std::byte*>(block.image()) : nullptr);
      }
    }
  }
  int64_t shared = 0;
  for (int64_t layer = 0; layer < groups.layers(); ++layer) {
    const auto* spec = std::get_if<AttentionSpec>(
        &options_.layers[static_cast<size_t>(layer)]);
    if (spec != nullptr) {
      const int64_t group = groups.place(LayerIndex(layer)).group;
      shared +=
          shared_reads_of(*spec, spans, blocks[static_cast<size_t>(group)]);
    }
  }
  return shared;
}

} // namespace holdfast::test
