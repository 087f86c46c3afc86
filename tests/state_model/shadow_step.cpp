// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstring>

#include "holdfast/plan/transaction.h"
#include "shadow.h"
#include "slots.h"

namespace holdfast::shadow {

/// A span from some of the draft's positions on, where the row has the room.
void Shadow::add_span(const Row& row, Draft& draft, std::mt19937& random)
    const {
  const int64_t size = std::ssize(row.stamps);
  const int64_t begin =
      size + static_cast<int64_t>(random() % uint64_t(draft.count));
  const int64_t end = begin + 1 + static_cast<int64_t>(random() % 100);
  const std::vector<BidirectionalSpan> spans{{Position(begin), Position(end)}};
  const int64_t more = static_cast<int64_t>(random() % 5);
  if (end - size <= room_of(row, spans)) {
    draft.spans = spans;
    draft.count = std::min(end - size + more, room_of(row, spans));
  }
}

std::vector<Shadow::Draft>
Shadow::drafts(const Side& side, const Operation& operation) {
  std::mt19937 random(operation.b);
  std::vector<Draft> result;
  for (size_t row = 0; row < side.rows.size(); ++row) {
    if (random() % 3 != 0 || row + 1 == side.rows.size()) {
      // Decode, draft, chunk.
      const int64_t limit = std::min<int64_t>(
          room_of(side.rows[row], {}), std::array{1, 7, 200}[random() % 3]);
      Draft draft{.row = row, .count = 0, .stamps = {}, .spans = {}};
      draft.count = static_cast<int64_t>(1 + random() % limit);
      if (random() % 4 == 0) {
        add_span(side.rows[row], draft, random);
      }
      result.push_back(std::move(draft));
    }
  }
  std::shuffle(result.begin(), result.end(), random);
  return result;
}

int64_t
Shadow::bytes_needed(const Side& side, const std::vector<Draft>& drafts) const {
  int64_t bytes = 0;
  for (const Draft& draft : drafts) {
    const Row& row = side.rows[draft.row];
    const int64_t size = std::ssize(row.stamps);
    for (const auto& sealed : row.sealed) {
      bytes += kImage *
          (blocks_for(size + draft.count) - blocks_for(size) +
           (size % kBlockTokens != 0 && sealed.back()));
    }
  }
  return bytes;
}

int64_t Shadow::room_of(
    const Row& row,
    const std::vector<BidirectionalSpan>& spans) const {
  const int64_t size = std::ssize(row.stamps);
  int64_t room = kMaxPositions.get() - size;
  for (const GroupRule& rule : options_.rules) {
    for (const Position start : rule.starts) {
      const int64_t left = start.get() - size;
      room = left > 0 ? std::min(room, left) : room;
    }
  }
  const auto* cut = cut_by(spans, size + room);
  return cut ? cut->end.get() - size : room;
}

void Shadow::convert(Row& row) const {
  for (size_t group = 0; group < row.phases.size(); ++group) {
    size_t due = 0;
    for (const Position start : options_.rules[group].starts) {
      due += start.get() <= std::ssize(row.stamps);
    }
    if (due != row.phases[group]) {
      row.phases[group] = due;
      if (std::ssize(row.stamps) % kBlockTokens != 0) {
        row.sealed[group].back() = false; // encoded into one of its own
      }
    }
  }
}

void Shadow::step(Side& side, const Operation& operation) {
  std::vector<Draft> rows = drafts(side, operation);
  std::vector<RowAppend> appends;
  for (const Draft& draft : rows) {
    appends.push_back({side.rows[draft.row].id, draft.count, draft.spans});
  }
  // What a conversion needs depends on who shares; the budget holds it to it.
  const int64_t needed = has_phases() ? side.chains->bytes_needed(appends).get()
                                      : bytes_needed(side, rows);
  require(
      side.chains->bytes_needed(appends) == Bytes(needed),
      "the bytes that the model needs");
  const Bytes live = pool_->live_bytes();
  if (!fits(needed)) {
    const std::string before = dump();
    expect_refused(ErrorCode::kOutOfBudget, before, code_of([&] {
                     (void)side.chains->begin(appends);
                   }));
    return;
  }
  Transaction step = side.chains->begin(appends);
  require(
      pool_->live_bytes() - live <= Bytes(needed),
      "no more bytes than were said");
  for (const Draft& draft : rows) {
    convert(side.rows[draft.row]);
  }
  require(
      code_of([&] { (void)side.chains->begin(appends); }) ==
          ErrorCode::kInvalidArgument,
      "one step at a time");
  require(
      code_of([&] { side.chains->trim(appends[0].row, Position(0)); }) ==
          ErrorCode::kInvalidArgument,
      "no trim within a step");
  if ((operations_ + 1) % options_.verify_every == 0) {
    check_plan(side, rows, *step.plan());
  }
  write(*step.plan(), rows);
  end_step(side, std::move(step), rows, operation.c);
}

void Shadow::check_plan(
    const Side& side,
    const std::vector<Draft>& drafts,
    const StepPlan& plan) const {
  require(
      plan.generation == side.chains->open_generation(),
      "the plan of the open step");
  require(plan.rows.size() == drafts.size(), "a span a row");
  int64_t token = 0;
  for (size_t i = 0; i < drafts.size(); ++i) {
    const Row& row = side.rows[drafts[i].row];
    const int64_t size = std::ssize(row.stamps);
    require(
        plan.rows[i].first_token == token && plan.rows[i].start == size &&
            plan.rows[i].count == drafts[i].count,
        "the span of each row");
    require(
        plan.rows[i].bidirectional == drafts[i].spans,
        "the bidirectional spans of each row");
    for (int64_t p = 0; p < drafts[i].count; ++p, ++token) {
      require(
          plan.positions.at(static_cast<size_t>(token)) == size + p,
          "the position of each token");
      int64_t seen = size + p + 1;
      for (const BidirectionalSpan& span : drafts[i].spans) {
        if (span.begin < Position(seen) && span.end > Position(seen)) {
          seen = span.end.get();
        }
      }
      require(
          plan.rows[i].seen_end(size + p) == seen,
          "where each query's keys end");
    }
    for (size_t group = 0; group < plan.groups.size(); ++group) {
      const auto& images = plan.groups[group].at(i).images;
      require(
          std::ssize(images) == blocks_for(size + drafts[i].count),
          "an image a block");
      const GroupRule& retention = options_.rules[group];
      require(
          plan.groups[group][i].phase ==
              static_cast<int64_t>(row.phases[group]),
          "the phase of each row");
      for (int64_t p = 0; p < size; ++p) {
        const bool seen = retention.window == 0 ||
            p > size - retention.window || p < retention.sinks;
        const std::byte* image = images[static_cast<size_t>(p / kBlockTokens)];
        require(image || !seen, "what the first query sees");
        require(
            !image ||
                stamp_at(image, p) ==
                    mixed(
                        row.stamps[static_cast<size_t>(p)],
                        group,
                        row.phases[group]),
            "the row's own stamps in the plan");
      }
    }
  }
  require(
      plan.tokens == token && std::ssize(plan.positions) == token,
      "as many positions as tokens");
}

void Shadow::write(const StepPlan& plan, std::vector<Draft>& drafts) {
  for (size_t i = 0; i < drafts.size(); ++i) {
    for (int64_t n = 0; n < drafts[i].count; ++n) {
      const int64_t p = plan.rows[i].start + n;
      drafts[i].stamps.push_back(random_());
      for (size_t group = 0; group < plan.groups.size(); ++group) {
        const uint64_t value = mixed(
            drafts[i].stamps.back(),
            group,
            static_cast<size_t>(plan.groups[group][i].phase));
        std::byte* image =
            plan.groups[group][i].images[static_cast<size_t>(p / kBlockTokens)];
        std::memcpy(image + p % kBlockTokens * 8, &value, sizeof(value));
      }
    }
  }
}

void Shadow::end_step(
    Side& side,
    Transaction step,
    const std::vector<Draft>& drafts,
    uint32_t choice) {
  std::mt19937 random(choice);
  std::vector<int64_t> accepted;
  for (const Draft& draft : drafts) {
    accepted.push_back(draft.count);
    if (choice % 4 == 1) { // ragged
      accepted.back() = random() % (draft.count + 1);
    }
  }
  if (choice % 4 == 2) {
    step.rollback();
    step.rollback(); // a defined no-op
  }
  if (choice % 4 == 3) {
    const Transaction dropped = std::move(step); // by its destructor
    return;
  }
  if (choice % 4 == 2) {
    require(
        code_of([&] { step.commit(accepted); }) == ErrorCode::kStale,
        "an ended step to stay ended");
    return;
  }
  ++accepted[0];
  if (accepted[0] > drafts[0].count) {
    require(
        code_of([&] { step.commit(accepted); }) == ErrorCode::kInvalidArgument,
        "no more accepted than appended");
    require(step.open(), "a refused commit to leave the step open");
  }
  --accepted[0];
  for (size_t i = 0; i < drafts.size(); ++i) {
    const int64_t size = std::ssize(side.rows[drafts[i].row].stamps);
    if (const auto* cut = cut_by(drafts[i].spans, size + accepted[i])) {
      require(
          code_of([&] { step.commit(accepted); }) ==
              ErrorCode::kInvalidArgument,
          "no span committed in part");
      require(step.open(), "a refused commit to leave the step open");
      accepted[i] = cut->begin.get() - size;
    }
  }
  step.commit(accepted);
  for (size_t i = 0; i < drafts.size(); ++i) {
    settle(side.rows[drafts[i].row], drafts[i], accepted[i]);
  }
}

void Shadow::settle(Row& row, const Draft& draft, int64_t accepted) const {
  if (accepted == 0) {
    return;
  }
  const bool within = std::ssize(row.stamps) % kBlockTokens != 0;
  row.stamps.insert(
      row.stamps.end(), draft.stamps.begin(), draft.stamps.begin() + accepted);
  const int64_t size = std::ssize(row.stamps);
  for (const BidirectionalSpan& span : draft.spans) {
    if (span.end <= Position(size)) {
      row.spans.push_back(span);
    }
  }
  for (size_t group = 0; group < row.released.size(); ++group) {
    const GroupRule& rule = options_.rules[group];
    auto& released = row.released[group];
    auto& sealed = row.sealed[group];
    if (within) {
      sealed.back() = false; // copied if it was sealed
    }
    released.resize(static_cast<size_t>(blocks_for(size)));
    sealed.resize(static_cast<size_t>(blocks_for(size)));
    for (int64_t b = 0; b < blocks_for(size); ++b) {
      const int64_t last = b * kBlockTokens + kBlockTokens - 1;
      if (last < size) {
        sealed[static_cast<size_t>(b)] = true;
      }
      const bool kept = rule.keep_every > 0 && (b + 1) % rule.keep_every == 0;
      if (rule.window > 0 && last < size - rule.window &&
          b * kBlockTokens >= rule.sinks && !kept) {
        released[static_cast<size_t>(b)] = true;
      }
    }
  }
}

} // namespace holdfast::shadow
