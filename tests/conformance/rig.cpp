// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The verbs between steps.

#include "rig.h"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "holdfast/kernels/cpu/attend_kernels.h"
#include "tests/code_of.h"

namespace holdfast::conformance {

namespace {

constexpr int64_t kMostRows = 5;
constexpr int64_t kLongest = 230; // positions of a row
// A split, which three rows or more share, and a tail that forks copy; and what
// forks may grow by.
constexpr int64_t kTrunk = cpu::kSplitBlocks * kBlockTokens + 9;
constexpr int64_t kBranch = 70;
constexpr size_t kMostKept = 2;

int threads_of(int64_t round) {
  return static_cast<int>(1 + round % 2);
}

int64_t blocks_for(int64_t positions) {
  return positions / kBlockTokens + (positions % kBlockTokens != 0);
}

std::vector<RowId> ids_of(const std::vector<PlayedRow>& rows) {
  std::vector<RowId> ids;
  for (const PlayedRow& row : rows) {
    ids.push_back(row.id);
  }
  return ids;
}

} // namespace

void require(bool condition, const std::string& text) {
  if (!condition) {
    throw std::runtime_error("[conformance] expected " + text);
  }
}

std::vector<int32_t> PlayedRow::ids() const {
  std::vector<int32_t> result;
  for (const PlayedToken& token : tokens) {
    result.push_back(token.token.id);
  }
  return result;
}

std::vector<TokenAt> PlayedRow::text() const {
  std::vector<TokenAt> result;
  for (const PlayedToken& token : tokens) {
    result.push_back(token.token);
  }
  return result;
}

std::vector<BidirectionalSpan> PlayedRow::spans() const {
  std::vector<BidirectionalSpan> result;
  for (int64_t p = 0; p < size(); ++p) {
    const auto& span = tokens[static_cast<size_t>(p)].token.span;
    if (span.cut_at(Position(p + 1)) && span.begin == Position(p)) {
      result.push_back(span);
    }
  }
  return result;
}

bool PlayedRow::cut_at(int64_t length) const {
  return length < size() &&
      tokens[static_cast<size_t>(length)].token.span.begin < Position(length);
}

Rig::Rig(const Codec& codec, int64_t round)
    : cells_(cells_of(codec, round)),
      keep_every_(keep_every_in(round)),
      recurrent_(cells_.back().recurrent.value()),
      sides_([&] {
        State state(options_of(cells_, round, threads_of(round)));
        State beside = state.sibling();
        return std::array<Side, 2>{
            Side{std::move(state), {}}, Side{std::move(beside), {}}};
      }()),
      alone_(options_of(cells_, round, threads_of(round + 1))) {
  for (const Cell& cell : cells_) {
    truths_.emplace_back(cell, std::ssize(truths_));
    tables_.push_back(tables_of(truths_.back(), recurrent_));
  }
}

void Rig::play(const std::vector<Operation>& script) {
  longest_ = kLongest;
  guarded([&] { run_all(script); });
}

void Rig::play_forks(const std::vector<Operation>& script) {
  longest_ = kTrunk + kBranch;
  guarded([&] {
    Side& side = sides_[0];
    add_trunk(side, kTrunk);
    trunk_ = side.rows.back();
    while (!full()) {
      fork(side, {.verb = Verb::kFork});
    }
    // All together at least once, whatever the script does.
    speculate(
        side, {.verb = Verb::kSpeculate, .a = 1, .b = (1u << kMostRows) - 1});
    run_all(script);
  });
}

void Rig::run_all(const std::vector<Operation>& script) {
  for (const Operation& operation : script) {
    run(operation);
    check(sides_[0]);
    check(sides_[1]);
    check_bytes();
  }
  finish();
}

void Rig::guarded(const std::function<void()>& play) {
  clear();
  try {
    play();
  } catch (const std::exception& error) {
    std::string text = error.what();
    for (const Cell& cell : cells_) {
      text += "\n  " + cell.text();
    }
    throw std::runtime_error(text);
  }
}

void Rig::clear() {
  kept_.clear();
  trunk_.reset();
  for (Side& side : sides_) {
    side.state.filter({});
    side.rows.clear();
  }
  alone_.filter({});
  require(sides_[0].state.bytes() == Bytes(0), "no bytes without rows");
  require(alone_.bytes() == Bytes(0), "no bytes without rows");
  ticks_ = 0;
}

bool Rig::latent_sees_all() const {
  return std::ranges::any_of(cells_, [](const Cell& cell) {
    return cell.spec.latent && !cell.spec.donor &&
        cell.spec.visibility.window == 0;
  });
}

bool Rig::full() const {
  return std::ssize(sides_[0].rows) + std::ssize(sides_[1].rows) >= kMostRows;
}

void Rig::run(const Operation& operation) {
  using Run = void (Rig::*)(Side&, const Operation&);
  Side& side = sides_[operation.a % 5 == 0 ? 1 : 0];
  const bool more = operation.verb == Verb::kFork ||
      operation.verb == Verb::kExtract || operation.verb == Verb::kMerge ||
      operation.verb == Verb::kAdopt;
  ++ticks_;
  if (operation.verb == Verb::kAdd || side.rows.empty()) {
    if (!full()) {
      add(side);
    }
    return;
  }
  if (more && full()) {
    return;
  }
  static const Run runs[] = {
      nullptr,
      &Rig::append,
      &Rig::speculate,
      &Rig::roll_back,
      &Rig::fork,
      &Rig::trim,
      &Rig::cancel,
      &Rig::reorder,
      &Rig::filter,
      &Rig::extract,
      &Rig::merge,
      &Rig::take,
      &Rig::snapshot,
      &Rig::adopt,
      &Rig::replay};
  (this->*runs[static_cast<size_t>(operation.verb)])(side, operation);
}

void Rig::add(Side& side) {
  side.rows.push_back(
      {.id = side.state.add_row(),
       .tokens = {},
       .phases = std::vector<size_t>(cells_.size()),
       .released = std::vector<std::vector<bool>>(cells_.size())});
}

std::vector<size_t> Rig::chosen(const Side& side, const Operation& operation) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < side.rows.size(); ++i) {
    if (operation.b >> i & 1) {
      rows.push_back(i);
    }
  }
  if (rows.empty()) {
    rows.push_back(operation.b % side.rows.size());
  }
  std::mt19937 random(operation.c);
  std::shuffle(rows.begin(), rows.end(), random);
  return rows;
}

void Rig::fork(Side& side, const Operation& operation) {
  PlayedRow row = side.rows[operation.b % side.rows.size()];
  row.id = side.state.fork_row(row.id);
  side.rows.push_back(std::move(row));
}

Visibility Rig::kept_by(size_t layer) const {
  const auto& donor = cells_[layer].spec.donor;
  return cells_[donor ? static_cast<size_t>(donor->get()) : layer].sees();
}

bool Rig::stays(size_t layer, int64_t block) const {
  const int64_t every = cells_[layer].recurrent ? keep_every_ : 0;
  return every > 0 && (block + 1) % every == 0;
}

int64_t Rig::floor_of(const PlayedRow& row) const {
  int64_t floor = 0;
  for (size_t layer = 0; layer < cells_.size(); ++layer) {
    const Cell& cell = cells_[layer];
    const auto& released = row.released[layer];
    if (row.phases[layer] > 0) {
      floor = std::max(floor, cell.phases[row.phases[layer]].start.get());
    }
    const auto last = std::find(released.rbegin(), released.rend(), true);
    if (last != released.rend()) {
      floor = std::max(
          floor,
          (released.rend() - last) * kBlockTokens + kept_by(layer).window - 1);
    }
  }
  floor += row.cut_at(std::max<int64_t>(1, floor)) ? 1 : 0;
  while (row.cut_at(floor)) {
    ++floor;
  }
  return floor;
}

bool Rig::may_leave(const PlayedRow& row, int64_t length) const {
  for (size_t layer = 0; length > 0 && layer < cells_.size(); ++layer) {
    const auto& released = row.released[layer];
    const int64_t window = kept_by(layer).window;
    const size_t phase = row.phases[layer]; // of a recurrent one 0
    if ((phase > 0 && length < cells_[layer].phases[phase].start.get()) ||
        (length % kBlockTokens != 0 &&
         released[static_cast<size_t>(length / kBlockTokens)])) {
      return false;
    }
    for (int64_t p = 0; p < length; ++p) {
      if ((window == 0 || p > length - window) &&
          released[static_cast<size_t>(p / kBlockTokens)]) {
        return false;
      }
    }
  }
  return !row.cut_at(length);
}

void Rig::trim(Side& side, const Operation& operation) {
  PlayedRow& row = side.rows[operation.b % side.rows.size()];
  const int64_t to = operation.c % 4 == 0
      ? operation.c / 4 % (row.size() + 1)
      : std::max<int64_t>(0, row.size() - operation.c / 4 % 70);
  const auto call = [&] { side.state.trim(row.id, Position(to)); };
  if (!may_leave(row, to)) {
    require(
        code_of(call) == ErrorCode::kUnsupported,
        "a trim behind a window or into a span to be refused");
    return;
  }
  call();
  row.tokens.resize(static_cast<size_t>(to));
  for (size_t layer = 0; layer < cells_.size(); ++layer) {
    row.released[layer].resize(static_cast<size_t>(blocks_for(to)));
    row.phases[layer] = to == 0 ? 0 : row.phases[layer];
  }
}

void Rig::cancel(Side& side, const Operation& operation) {
  const size_t index = operation.b % side.rows.size();
  const RowId row = side.rows[index].id;
  require(side.state.remove_row(row), "the row to leave");
  require(!side.state.remove_row(row), "the row to be gone already");
  side.rows.erase(side.rows.begin() + static_cast<int64_t>(index));
}

void Rig::reorder(Side& side, const Operation& operation) {
  std::mt19937 random(operation.b);
  std::shuffle(side.rows.begin(), side.rows.end(), random);
  side.state.reorder(ids_of(side.rows));
}

void Rig::filter(Side& side, const Operation& operation) {
  std::vector<PlayedRow> keep;
  for (const size_t row : chosen(side, operation)) {
    keep.push_back(side.rows[row]);
  }
  side.state.filter(ids_of(keep));
  side.rows = std::move(keep);
}

void Rig::extract(Side& side, const Operation& operation) {
  const std::vector<size_t> rows = chosen(side, operation);
  std::vector<RowId> ids;
  for (const size_t row : rows) {
    ids.push_back(side.rows[row].id);
  }
  State apart = side.state.extract(ids);
  const std::vector<RowId> names(apart.rows().begin(), apart.rows().end());
  require(names.size() == ids.size(), "a row for each that was extracted");
  Side& to = other(side);
  const std::vector<RowId> taken = to.state.take(apart, names);
  require(apart.rows().empty(), "all rows to have been taken");
  for (size_t i = 0; i < rows.size(); ++i) {
    to.rows.push_back(side.rows[rows[i]]);
    to.rows.back().id = taken.at(i);
  }
}

void Rig::merge(Side& side, const Operation& operation) {
  const std::vector<size_t> rows = chosen(side, operation);
  std::vector<RowId> ids;
  for (const size_t row : rows) {
    ids.push_back(side.rows[row].id);
  }
  Side& to = other(side);
  const std::vector<RowId> names = to.state.merge(side.state, ids);
  for (size_t i = 0; i < rows.size(); ++i) {
    to.rows.push_back(side.rows[rows[i]]);
    to.rows.back().id = names.at(i);
  }
}

void Rig::take(Side& side, const Operation& operation) {
  std::vector<size_t> rows = chosen(side, operation);
  std::vector<RowId> ids;
  for (const size_t row : rows) {
    ids.push_back(side.rows[row].id);
  }
  Side& to = other(side);
  const Bytes before = side.state.bytes();
  const std::vector<RowId> names = to.state.take(side.state, ids);
  require(side.state.bytes() == before, "a move to copy nothing");
  for (size_t i = 0; i < rows.size(); ++i) {
    to.rows.push_back(side.rows[rows[i]]);
    to.rows.back().id = names.at(i);
  }
  std::sort(rows.rbegin(), rows.rend());
  for (const size_t row : rows) {
    side.rows.erase(side.rows.begin() + static_cast<int64_t>(row));
  }
}

void Rig::snapshot(Side& side, const Operation& operation) {
  const PlayedRow& row = side.rows[operation.b % side.rows.size()];
  if (kept_.size() == kMostKept) {
    kept_.erase(kept_.begin());
  }
  kept_.push_back({side.state.snapshot(row.id, row.ids()), row});
}

void Rig::adopt(Side& side, const Operation& operation) {
  if (kept_.empty()) {
    return;
  }
  const Kept& kept = kept_[operation.b % kept_.size()];
  require(
      std::ranges::equal(kept.snapshot.tokens(), kept.row.ids()),
      "a snapshot's tokens");
  side.rows.push_back(kept.row);
  side.rows.back().id = side.state.adopt(kept.snapshot);
}

} // namespace holdfast::conformance
