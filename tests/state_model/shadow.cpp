// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "shadow.h"

#include <algorithm>
#include <ostream>

#include "slots.h"

namespace holdfast::shadow {

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  static const char* const names[] = {
      "add", "step", "fork", "trim", "remove", "reorder", "move"};
  return out << names[static_cast<int>(operation.verb)] << "(" << operation.a
             << ", " << operation.b << ", " << operation.c << ")";
}

std::vector<GroupRule> all_retentions() {
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
    gone_.clear(); // each is checked once
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

} // namespace holdfast::shadow
