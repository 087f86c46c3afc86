// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "shadow.h"

#include <algorithm>
#include <cstring>
#include <ostream>

#include "slots.h"

namespace holdfast::shadow {

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  static const char* const names[] = {
      "add",
      "step",
      "fork",
      "trim",
      "remove",
      "reorder",
      "move",
      "filter",
      "copy",
      "capture"};
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
      {.window = 100, .sinks = 65},
      {.window = 2, .keep_every = 2},
      {.window = 70, .sinks = 4, .keep_every = 1}};
}

std::vector<GroupRule> all_keeping() {
  return {
      {},
      {.window = 2, .keep_every = 1},
      {.window = 2, .keep_every = 2},
      {.window = 2, .starts = {Position(70)}, .keep_every = 3}};
}

std::vector<GroupRule> all_phases() {
  return {
      {.starts = {Position(100)}},
      {.window = 8, .starts = {Position(64)}},
      {.window = 100, .sinks = 65, .starts = {Position(50), Position(130)}},
      {}};
}

namespace {

std::vector<Bytes> kinds_of(const std::vector<GroupRule>& rules) {
  std::vector<Bytes> result;
  for (const GroupRule& rule : rules) {
    const auto phases = static_cast<size_t>(rule.phases());
    for (size_t phase = 0; phase < phases; ++phase) {
      result.push_back(Bytes(image_bytes(phase, phases)));
    }
  }
  return result;
}

void convert_stamps(const BlockConversion& conversion) {
  for (int64_t slot = 0; slot < conversion.slots; ++slot) {
    const uint64_t value = stamp_at(conversion.source, slot) ^
        salt(static_cast<size_t>(conversion.from)) ^
        salt(static_cast<size_t>(conversion.to));
    std::memcpy(conversion.target + slot * 8, &value, sizeof(value));
  }
}

} // namespace

Shadow::Shadow(Options options)
    : options_(std::move(options)),
      pool_(std::make_unique<BlockPool>(
          kinds_of(options_.rules),
          options_.budget)) {
  for (Side& side : sides_) {
    side.chains =
        std::make_unique<Chains>(*pool_, options_.rules, convert_stamps);
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
  } else if (operation.verb == Verb::kFilter) {
    filter(side, operation);
  } else if (!full && operation.verb == Verb::kCopy) {
    copy(side, sides_[&side == &sides_[0] ? 1 : 0], operation);
  } else if (!full && operation.verb == Verb::kCapture) {
    capture(side, operation);
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
       .sealed = std::vector<std::vector<bool>>(options_.rules.size()),
       .released = std::vector<std::vector<bool>>(options_.rules.size()),
       .phases = std::vector<size_t>(options_.rules.size()),
       .spans = {}});
}

bool Shadow::fits(int64_t bytes) const {
  return Bytes(bytes) <= pool_->budget() - pool_->live_bytes();
}

bool Shadow::has_phases() const {
  return std::any_of(
      options_.rules.begin(), options_.rules.end(), [](const GroupRule& rule) {
        return !rule.starts.empty();
      });
}

int64_t Shadow::tail_bytes(const Row& row) const {
  int64_t bytes = 0;
  for (size_t group = 0; group < row.phases.size(); ++group) {
    if (std::ssize(row.stamps) % kBlockTokens != 0 &&
        !row.sealed[group].back()) {
      bytes += image_bytes(
          row.phases[group], options_.rules[group].starts.size() + 1);
    }
  }
  return bytes;
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
  const std::string before = dump();
  if (!fits(tail_bytes(copy))) {
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
    if (row.phases[group] > 0) {
      result = std::max(
          result, options_.rules[group].starts[row.phases[group] - 1].get());
    }
    for (int64_t b = std::ssize(row.released[group]) - 1; b >= 0; --b) {
      if (row.released[group][static_cast<size_t>(b)]) {
        result = std::max(
            result, (b + 1) * kBlockTokens + options_.rules[group].window - 1);
        break;
      }
    }
  }
  const auto* cut = cut_by(row.spans, std::max<int64_t>(1, result));
  return cut ? cut->end.get() : result;
}

bool Shadow::may_leave(const Row& row, int64_t length) const {
  if (length == 0) {
    return true;
  }
  for (size_t group = 0; group < row.released.size(); ++group) {
    const auto& released = row.released[group];
    const int64_t window = options_.rules[group].window;
    const size_t phase = row.phases[group];
    if (phase > 0 &&
        Position(length) < options_.rules[group].starts[phase - 1]) {
      return false;
    }
    if (length % kBlockTokens != 0 &&
        released[static_cast<size_t>(length / kBlockTokens)]) {
      return false;
    }
    for (int64_t p = length - 1; p >= 0; --p) {
      if ((window == 0 || p > length - window) &&
          released[static_cast<size_t>(p / kBlockTokens)]) {
        return false;
      }
    }
  }
  return cut_by(row.spans, length) == nullptr;
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
  if (!may_leave(row, to)) {
    expect_refused(ErrorCode::kUnsupported, before, code_of(call));
    return;
  }
  call();
  row.stamps.resize(static_cast<size_t>(to));
  std::erase_if(row.spans, [&](const BidirectionalSpan& span) {
    return span.end > Position(to);
  });
  for (size_t group = 0; group < row.released.size(); ++group) {
    row.sealed[group].resize(static_cast<size_t>(blocks_for(to)));
    row.released[group].resize(static_cast<size_t>(blocks_for(to)));
    row.phases[group] = to == 0 ? 0 : row.phases[group];
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

void Shadow::filter(Side& side, const Operation& operation) {
  if (operation.c % 4 != 0) {
    return; // it thins the rows out
  }
  std::vector<RowId> keep;
  std::vector<Row> kept;
  for (Row& row : side.rows) {
    if ((operation.b >> keep.size() & 3) != 0) {
      keep.push_back(row.id);
      kept.push_back(std::move(row));
    } else {
      gone_.push_back(row.id);
    }
  }
  std::reverse(keep.begin(), keep.end());
  std::reverse(kept.begin(), kept.end());
  side.chains->filter(keep);
  side.rows = std::move(kept);
}

void Shadow::copy(Side& from, Side& to, const Operation& operation) {
  const Row& first = from.rows[operation.b % from.rows.size()];
  const Row& second = from.rows[operation.c % from.rows.size()];
  std::vector<RowId> ids{first.id};
  int64_t bytes = tail_bytes(first);
  if (!(second.id == first.id)) {
    ids.push_back(second.id);
    bytes += tail_bytes(second);
  }
  const std::string before = dump();
  if (!fits(bytes)) {
    expect_refused(ErrorCode::kOutOfBudget, before, code_of([&] {
                     to.chains->copy(*from.chains, ids);
                   }));
    return;
  }
  const std::vector<RowId> names = to.chains->copy(*from.chains, ids);
  for (size_t i = 0; i < names.size(); ++i) {
    to.rows.push_back(i == 0 ? first : second);
    to.rows.back().id = names[i];
  }
}

void Shadow::capture(Side& side, const Operation& operation) {
  Row row = side.rows[operation.b % side.rows.size()];
  const std::string before = dump();
  if (!fits(tail_bytes(row))) {
    expect_refused(ErrorCode::kOutOfBudget, before, code_of([&] {
                     side.chains->capture(row.id);
                   }));
    return;
  }
  // The value costs its tail while it lives, the row added from it nothing.
  const CapturedRow captured = side.chains->capture(row.id);
  const Bytes live = pool_->live_bytes();
  row.id = side.chains->add(captured);
  require(pool_->live_bytes() == live, "a captured row to be shared");
  for (auto& sealed : row.sealed) {
    sealed.assign(sealed.size(), true);
  }
  side.rows.push_back(std::move(row));
}

} // namespace holdfast::shadow
