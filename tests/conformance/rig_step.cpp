// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Steps: chunks, drafts that keep a part, and steps that leave nothing.

#include <algorithm>
#include <random>
#include <stdexcept>

#include "holdfast/kernels/cpu/attend_share.h"
#include "holdfast/kernels/cpu/latent_plan.h"
#include "rig.h"
#include "tests/code_of.h"

namespace holdfast::conformance {

namespace {

constexpr int64_t kLongChunk = 90;
constexpr int64_t kLongDraft = 7;
// Of a span: no more than between two changes of a layer's precision.
constexpr int64_t kLongSpan = 60;

} // namespace

int64_t Rig::room_of(
    const PlayedRow& row,
    const std::vector<BidirectionalSpan>& spans) const {
  int64_t room = kMaxPositions.get() - row.size();
  for (const Cell& cell : cells_) {
    for (const LayerPhase& phase : cell.phases) {
      if (phase.start > Position(row.size())) {
        room = std::min(room, phase.start.get() - row.size());
      }
    }
  }
  for (const BidirectionalSpan& span : spans) {
    if (span.cut_at(Position(row.size() + room))) {
      return span.end.get() - row.size();
    }
  }
  return room;
}

void Rig::add_span(const PlayedRow& row, Draft& draft, uint32_t random) const {
  const int64_t size = row.size();
  const int64_t begin = size + random % std::ssize(draft.tokens);
  const int64_t end = begin + 2 + random / 256 % (kLongSpan - 1);
  const std::vector<BidirectionalSpan> spans{{Position(begin), Position(end)}};
  const int64_t most = std::min(room_of(row, spans), longest_ - size);
  if (end - size > most) {
    return;
  }
  draft.spans = spans;
  draft.tokens.resize(
      static_cast<size_t>(std::min<int64_t>(most, end - size + random % 3)));
  for (size_t i = 0; i < draft.tokens.size(); ++i) {
    draft.tokens[i] = static_cast<int32_t>((random + 5 * i) % kVocabulary);
  }
}

std::vector<Draft>
Rig::drafts(const Side& side, const Operation& operation, int64_t most) {
  std::mt19937 random(operation.c);
  std::vector<Draft> result;
  for (const size_t index : chosen(side, operation)) {
    const PlayedRow& row = side.rows[index];
    const int64_t wanted = random() % 2 == 0
        ? 1 + static_cast<int64_t>(random()) % kLongDraft
        : 1 + static_cast<int64_t>(random()) % most;
    const int64_t count =
        std::min({wanted, room_of(row, {}), longest_ - row.size()});
    if (count < 1) {
      continue;
    }
    Draft draft{.row = row.id, .index = index, .tokens = {}, .spans = {}};
    for (int64_t i = 0; i < count; ++i) {
      draft.tokens.push_back(static_cast<int32_t>(random() % kVocabulary));
    }
    if (random() % 8 == 0) {
      add_span(row, draft, static_cast<uint32_t>(random()));
    }
    result.push_back(std::move(draft));
  }
  return result;
}

void Rig::add_trunk(Side& side, int64_t length) {
  add(side);
  const size_t index = side.rows.size() - 1;
  while (side.rows[index].size() < length) {
    const PlayedRow& row = side.rows[index];
    const int64_t count =
        std::min({length - row.size(), room_of(row, {}), kLongChunk});
    Draft draft{.row = row.id, .index = index, .tokens = {}, .spans = {}};
    for (int64_t i = 0; i < count; ++i) {
      draft.tokens.push_back(
          static_cast<int32_t>((row.size() + i) * 7 % kVocabulary));
    }
    end(side, begin(side, {draft}), {draft}, {count});
  }
}

// As a step that begins now finds them: the blocks below it stay the same.
void Rig::count_shared(Side& side, const std::vector<Draft>& drafts) {
  std::vector<RowSpan> spans;
  std::vector<std::vector<RowBlocks>> blocks(
      static_cast<size_t>(groups().size())); // [group][row]
  for (const Draft& draft : drafts) {
    const PlayedRow& row = side.rows[draft.index];
    spans.push_back(
        {.first_token = 0,
         .count = std::ssize(draft.tokens),
         .start = row.size()});
    const Snapshot taken = side.state.snapshot(row.id, row.ids());
    for (size_t group = 0; group < blocks.size(); ++group) {
      RowBlocks& images = blocks[group].emplace_back();
      for (const BlockRef& block : taken.row().blocks[group]) {
        images.images.push_back(
            block ? const_cast<std::byte*>(block.image()) : nullptr);
      }
    }
  }
  for (size_t layer = 0; layer < cells_.size(); ++layer) {
    const AttentionSpec& spec = cells_[layer].spec;
    const int64_t group =
        groups().place(LayerIndex(static_cast<int64_t>(layer))).group;
    const auto& images = blocks[static_cast<size_t>(group)];
    if (spec.latent) {
      cpu::LatentJob job;
      job.spec = &spec;
      job.rows = spans;
      job.blocks = images;
      shared_latent_ += std::ranges::count_if(
          cpu::plan_latent(job, 1),
          [](const auto& piece) { return piece.shared_end > 0; });
    } else if (cells_[layer].exact() && !cells_[layer].recurrent) {
      shared_ +=
          std::ssize(cpu::find_shared(
                         {.query_heads = spec.query_heads / spec.kv_heads,
                          .visibility = spec.visibility},
                         spans,
                         images)
                         .runs);
    }
  }
}

Step Rig::begin(Side& side, const std::vector<Draft>& drafts) {
  if (trunk_) {
    count_shared(side, drafts);
  }
  std::vector<RowAppend> appends;
  std::vector<int32_t> positions;
  for (const Draft& draft : drafts) {
    appends.push_back({draft.row, std::ssize(draft.tokens), draft.spans});
    const auto from = static_cast<int32_t>(side.rows[draft.index].size());
    for (int32_t i = 0; i < std::ssize(draft.tokens); ++i) {
      positions.push_back(from + i);
    }
  }
  Step step = side.state.begin(appends);
  for (const Draft& draft : drafts) { // whatever becomes of the step
    PlayedRow& row = side.rows[draft.index];
    for (size_t layer = 0; layer < cells_.size(); ++layer) {
      row.phases[layer] = truths_[layer].birth(Position(row.size()));
    }
  }
  const auto* got = step.positions().data<int32_t>();
  require(
      step.tokens() == std::ssize(positions) &&
          std::equal(positions.begin(), positions.end(), got),
      "each row's own positions");
  return step;
}

void Rig::settle(PlayedRow& row) const {
  const int64_t size = row.size();
  for (size_t layer = 0; layer < cells_.size(); ++layer) {
    const Visibility keeps = kept_by(layer);
    auto& released = row.released[layer];
    released.resize(
        static_cast<size_t>((size + kBlockTokens - 1) / kBlockTokens));
    for (int64_t b = 0; b < std::ssize(released) && keeps.window > 0; ++b) {
      // One position more than the next query sees stays.
      if ((b + 1) * kBlockTokens - 1 < size - keeps.window &&
          b * kBlockTokens >= keeps.sinks && !stays(layer, b)) {
        released[static_cast<size_t>(b)] = true;
      }
    }
  }
}

std::vector<int64_t> Rig::allowed(
    Side& side,
    Step& step,
    const std::vector<Draft>& drafts,
    std::vector<int64_t> accepted) {
  for (size_t d = 0; d < drafts.size(); ++d) {
    const int64_t size = side.rows[drafts[d].index].size();
    for (const BidirectionalSpan& span : drafts[d].spans) {
      if (span.cut_at(Position(size + accepted[d]))) {
        require(
            code_of([&] { step.commit(accepted); }) ==
                ErrorCode::kInvalidArgument,
            "a span to be committed whole or not at all");
        accepted[d] = span.begin.get() - size;
      }
    }
  }
  return accepted;
}

void Rig::end(
    Side& side,
    Step step,
    const std::vector<Draft>& drafts,
    const std::vector<int64_t>& wanted) {
  const auto outputs = attend(step, drafts, cells_.size());
  commit(side, std::move(step), drafts, wanted, outputs);
}

void Rig::commit(
    Side& side,
    Step step,
    const std::vector<Draft>& drafts,
    const std::vector<int64_t>& wanted,
    const std::shared_ptr<const StepOutputs>& outputs) {
  const std::vector<int64_t> accepted = allowed(side, step, drafts, wanted);
  step.commit(accepted);
  int64_t at = 0;
  for (size_t d = 0; d < drafts.size(); ++d) {
    PlayedRow& row = side.rows[drafts[d].index];
    for (int64_t i = 0; i < accepted[d]; ++i) {
      const Position here(row.size());
      BidirectionalSpan span{here, here + Position(1)};
      for (const BidirectionalSpan& of : drafts[d].spans) {
        span = of.begin <= here && here < of.end ? of : span;
      }
      row.tokens.push_back(
          {.token = {drafts[d].tokens[static_cast<size_t>(i)], span},
           .outputs = outputs,
           .at = at + i});
    }
    at += std::ssize(drafts[d].tokens);
    settle(row);
    check_reads(row, static_cast<size_t>(accepted[d]));
  }
}

void Rig::append(Side& side, const Operation& operation) {
  const std::vector<Draft> all = drafts(side, operation, kLongChunk);
  if (all.empty()) {
    return;
  }
  std::vector<int64_t> counts;
  for (const Draft& draft : all) {
    counts.push_back(std::ssize(draft.tokens));
  }
  end(side, begin(side, all), all, counts);
}

void Rig::speculate(Side& side, const Operation& operation) {
  const std::vector<Draft> all = drafts(side, operation, kLongDraft);
  if (all.empty()) {
    return;
  }
  std::mt19937 random(operation.a);
  std::vector<int64_t> accepted;
  for (const Draft& draft : all) {
    accepted.push_back(
        static_cast<int64_t>(random()) % (std::ssize(draft.tokens) + 1));
  }
  end(side, begin(side, all), all, accepted);
}

void Rig::replay(Side& side, const Operation& operation) {
  std::vector<Draft> all = drafts(side, operation, kLongDraft);
  std::vector<int64_t> accepted;
  for (Draft& draft : all) {
    if (draft.spans.empty()) { // short ones, so that many are of one length
      draft.tokens.resize(
          1 + std::min<size_t>(draft.tokens.size() - 1, operation.a / 7 % 2));
    }
    accepted.push_back(std::ssize(draft.tokens) - operation.a % 2);
  }
  if (!all.empty()) {
    Step step = begin(side, all);
    const auto outputs = attend_again(step, all);
    commit(side, std::move(step), all, accepted, outputs);
  }
}

void Rig::roll_back(Side& side, const Operation& operation) {
  const std::vector<Draft> all = drafts(side, operation, kLongChunk);
  if (all.empty()) {
    return;
  }
  const size_t layers = operation.a / 5 % (cells_.size() + 1);
  try {
    Step step = begin(side, all);
    if (layers > 0) {
      attend(step, all, layers);
    }
    if (operation.a % 3 == 0) {
      step.rollback();
    } else if (operation.a % 3 == 1) {
      throw std::range_error("in the middle of a step");
    }
  } catch (const std::range_error&) {
    return; // the step is gone, as it is where its scope ends
  }
}

} // namespace holdfast::conformance
