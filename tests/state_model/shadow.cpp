// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "shadow.h"

#include <algorithm>
#include <cstring>
#include <ostream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "holdfast/base/status.h"
#include "holdfast/block/layout.h"
#include "holdfast/plan/transaction.h"

namespace holdfast::shadow {

namespace {

constexpr int64_t kImage = 4096; // 64 stamps and room

void require(bool condition, const std::string& text) {
  if (!condition) {
    throw std::runtime_error("[shadow] expected " + text);
  }
}

int64_t blocks_for(int64_t positions) {
  return positions / kBlockTokens + (positions % kBlockTokens != 0);
}

/// Groups must not be mixed up, so each stores another number.
uint64_t mixed(uint64_t stamp, size_t group) {
  return stamp ^ (0x9e3779b97f4a7c15u * (group + 1));
}

uint64_t stamp_at(const std::byte* image, int64_t position) {
  uint64_t result = 0;
  std::memcpy(&result, image + position % kBlockTokens * 8, sizeof(result));
  return result;
}

ErrorCode code_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::kOk;
}

} // namespace

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  static const char* const names[] = {
      "add", "step", "fork", "trim", "remove", "reorder", "move"};
  return out << names[static_cast<int>(operation.verb)] << "(" << operation.a
             << ", " << operation.b << ", " << operation.c << ")";
}

std::vector<Retention> all_retentions() {
  return {
      {},
      {.window = 1},
      {.window = 8},
      {.window = 8, .sinks = 4},
      {.window = 64},
      {.window = 100},
      {.window = 100, .sinks = 65}};
}

Shadow::Shadow(Options options)
    : options_(std::move(options)),
      pool_(std::make_unique<BlockPool>(
          std::vector<Bytes>(options_.retentions.size(), Bytes(kImage)),
          options_.budget)) {
  for (Side& side : sides_) {
    side.chains = std::make_unique<Chains>(*pool_, options_.retentions);
  }
}

void Shadow::run(const Operation& operation) {
  Side& side = sides_[operation.a % 7 == 0 ? 1 : 0];
  const bool full = std::ssize(sides_[0].rows) + std::ssize(sides_[1].rows) >=
      options_.max_rows;
  if (side.rows.empty() || operation.verb == Verb::kAdd) {
    if (!full) {
      add(side);
    }
  } else if (operation.verb == Verb::kStep) {
    step(side, operation);
  } else if (operation.verb == Verb::kFork) {
    if (!full) {
      fork(side, operation);
    }
  } else if (operation.verb == Verb::kTrim) {
    trim(side, operation);
  } else if (operation.verb == Verb::kRemove) {
    remove(side, operation);
  } else if (operation.verb == Verb::kReorder) {
    reorder(side, operation);
  } else if (operation.verb == Verb::kMove) {
    move(side, sides_[&side == &sides_[0] ? 1 : 0], operation);
  }
  if (++operations_ % options_.verify_every == 0) {
    verify();
  }
}

void Shadow::finish() {
  verify();
  for (Side& side : sides_) {
    while (!side.rows.empty()) {
      remove(side, {});
    }
  }
  require(pool_->live_bytes() == Bytes(0), "no live bytes at the end");
  require(pool_->live_blocks() == 0, "no live blocks at the end");
}

void Shadow::add(Side& side) {
  side.rows.push_back(
      {.id = side.chains->add(),
       .stamps = {},
       .sealed = {},
       .released = std::vector<std::vector<bool>>(options_.retentions.size())});
}

bool Shadow::fits(int64_t blocks) const {
  return Bytes(blocks * kImage) <= pool_->budget() - pool_->live_bytes();
}

void Shadow::expect_refused(
    ErrorCode code,
    const std::string& before,
    ErrorCode got) {
  ++refusals_;
  require(
      got == code,
      std::string("a refusal (") + name(code) + "), got " + name(got));
  require(dump() == before, "a refusal to change nothing, got another state");
}

void Shadow::fork(Side& side, const Operation& operation) {
  Row copy = side.rows[operation.b % side.rows.size()];
  const bool tail =
      std::ssize(copy.stamps) % kBlockTokens != 0 && !copy.sealed.back();
  const std::string before = dump();
  if (!fits(tail ? std::ssize(options_.retentions) : 0)) {
    expect_refused(ErrorCode::kOutOfBudget, before, code_of([&] {
                     side.chains->fork(copy.id);
                   }));
    return;
  }
  copy.id = side.chains->fork(copy.id);
  side.rows.push_back(std::move(copy));
}

int64_t Shadow::floor_of(const Row& row) const {
  int64_t result = 0;
  for (size_t group = 0; group < row.released.size(); ++group) {
    for (int64_t b = std::ssize(row.released[group]) - 1; b >= 0; --b) {
      if (row.released[group][static_cast<size_t>(b)]) {
        result = std::max(
            result,
            (b + 1) * kBlockTokens + options_.retentions[group].window - 1);
        break;
      }
    }
  }
  return result;
}

void Shadow::trim(Side& side, const Operation& operation) {
  Row& row = side.rows[operation.b % side.rows.size()];
  const int64_t size = std::ssize(row.stamps);
  // Mostly near the end, where it is possible; sometimes anywhere, or nowhere.
  int64_t to = operation.c % 3 == 0
      ? static_cast<int64_t>(operation.c / 3 % (size + 3)) - 1
      : std::max<int64_t>(0, size - operation.c / 3 % 90);
  const std::string before = dump();
  const auto call = [&] { side.chains->trim(row.id, Position(to)); };
  if (to < 0 || to > size) {
    expect_refused(ErrorCode::kInvalidArgument, before, code_of(call));
    return;
  }
  if (to != 0 && to < floor_of(row)) {
    expect_refused(ErrorCode::kUnsupported, before, code_of(call));
    return;
  }
  call();
  row.stamps.resize(static_cast<size_t>(to));
  row.sealed.resize(static_cast<size_t>(blocks_for(to)));
  for (auto& released : row.released) {
    released.resize(static_cast<size_t>(blocks_for(to)));
  }
}

void Shadow::remove(Side& side, const Operation& operation) {
  const size_t index = operation.b % side.rows.size();
  gone_.push_back(side.rows[index].id);
  require(side.chains->remove(gone_.back()), "the row to leave");
  require(!side.chains->remove(gone_.back()), "the row to be gone already");
  side.rows.erase(side.rows.begin() + static_cast<int64_t>(index));
}

void Shadow::reorder(Side& side, const Operation& operation) {
  std::mt19937 random(operation.b);
  std::shuffle(side.rows.begin(), side.rows.end(), random);
  std::vector<RowId> order;
  for (const Row& row : side.rows) {
    order.push_back(row.id);
  }
  side.chains->reorder(order);
}

void Shadow::move(Side& from, Side& to, const Operation& operation) {
  std::vector<RowId> ids;
  std::vector<Row> moved;
  for (size_t i = 0; i < from.rows.size();) {
    if (operation.b >> (i + moved.size()) & 1) {
      ids.push_back(from.rows[i].id);
      moved.push_back(std::move(from.rows[i]));
      from.rows.erase(from.rows.begin() + static_cast<int64_t>(i));
    } else {
      ++i;
    }
  }
  const Bytes live = pool_->live_bytes();
  const std::vector<RowId> names = to.chains->adopt(*from.chains, ids);
  require(pool_->live_bytes() == live, "a move to copy nothing");
  require(names.size() == ids.size(), "a name a moved row");
  for (size_t i = 0; i < moved.size(); ++i) {
    gone_.push_back(ids[i]);
    moved[i].id = names[i];
    to.rows.push_back(std::move(moved[i]));
  }
}

std::vector<Shadow::Draft>
Shadow::drafts(const Side& side, const Operation& operation) {
  std::mt19937 random(operation.b);
  std::vector<Draft> result;
  for (size_t row = 0; row < side.rows.size(); ++row) {
    if (random() % 3 != 0 || row + 1 == side.rows.size()) {
      // Decode, draft, chunk.
      const int64_t limit = std::array{1, 7, 200}[random() % 3];
      const auto count = static_cast<int64_t>(1 + random() % limit);
      result.push_back({.row = row, .count = count, .stamps = {}});
    }
  }
  std::shuffle(result.begin(), result.end(), random);
  return result;
}

int64_t Shadow::blocks_needed(
    const Side& side,
    const std::vector<Draft>& drafts) const {
  int64_t blocks = 0;
  for (const Draft& draft : drafts) {
    const Row& row = side.rows[draft.row];
    const int64_t size = std::ssize(row.stamps);
    blocks += blocks_for(size + draft.count) - blocks_for(size);
    blocks += size % kBlockTokens != 0 && row.sealed.back();
  }
  return blocks * std::ssize(options_.retentions);
}

void Shadow::step(Side& side, const Operation& operation) {
  std::vector<Draft> rows = drafts(side, operation);
  std::vector<RowAppend> appends;
  for (const Draft& draft : rows) {
    appends.push_back({side.rows[draft.row].id, draft.count});
  }
  const int64_t needed = blocks_needed(side, rows);
  require(
      side.chains->bytes_needed(appends) == Bytes(needed * kImage),
      "the bytes that the model needs");
  if (!fits(needed)) {
    const std::string before = dump();
    expect_refused(ErrorCode::kOutOfBudget, before, code_of([&] {
                     (void)side.chains->begin(appends);
                   }));
    return;
  }
  Transaction step = side.chains->begin(appends);
  require(
      code_of([&] { (void)side.chains->begin(appends); }) ==
          ErrorCode::kInvalidArgument,
      "one step at a time");
  require(
      code_of([&] { side.chains->trim(appends[0].row, Position(0)); }) ==
          ErrorCode::kInvalidArgument,
      "no trim within a step");
  check_plan(side, rows, *step.plan());
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
    for (int64_t p = 0; p < drafts[i].count; ++p, ++token) {
      require(
          plan.positions.at(static_cast<size_t>(token)) == size + p,
          "the position of each token");
    }
    for (size_t group = 0; group < plan.groups.size(); ++group) {
      const auto& images = plan.groups[group].at(i).images;
      require(
          std::ssize(images) == blocks_for(size + drafts[i].count),
          "an image a block");
      const Retention& retention = options_.retentions[group];
      for (int64_t p = 0; p < size; ++p) {
        const bool seen = retention.window == 0 ||
            p > size - retention.window || p < retention.sinks;
        const std::byte* image = images[static_cast<size_t>(p / kBlockTokens)];
        require(image || !seen, "what the first query sees");
        require(
            !image ||
                stamp_at(image, p) ==
                    mixed(row.stamps[static_cast<size_t>(p)], group),
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
        const uint64_t value = mixed(drafts[i].stamps.back(), group);
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
  step.commit(accepted);
  for (size_t i = 0; i < drafts.size(); ++i) {
    const auto& stamps = drafts[i].stamps;
    settle(
        side.rows[drafts[i].row],
        {stamps.begin(), stamps.begin() + accepted[i]});
  }
}

void Shadow::settle(Row& row, const std::vector<uint64_t>& accepted) const {
  if (accepted.empty()) {
    return;
  }
  if (std::ssize(row.stamps) % kBlockTokens != 0) {
    row.sealed.back() = false; // copied if it was sealed
  }
  row.stamps.insert(row.stamps.end(), accepted.begin(), accepted.end());
  const int64_t size = std::ssize(row.stamps);
  row.sealed.resize(static_cast<size_t>(blocks_for(size)));
  for (int64_t b = 0; b < blocks_for(size); ++b) {
    const int64_t last = b * kBlockTokens + kBlockTokens - 1;
    if (last < size) {
      row.sealed[static_cast<size_t>(b)] = true;
    }
    for (size_t group = 0; group < row.released.size(); ++group) {
      const Retention& retention = options_.retentions[group];
      auto& released = row.released[group];
      released.resize(static_cast<size_t>(blocks_for(size)));
      if (retention.window > 0 && last < size - retention.window &&
          b * kBlockTokens >= retention.sinks) {
        released[static_cast<size_t>(b)] = true;
      }
    }
  }
}

} // namespace holdfast::shadow
