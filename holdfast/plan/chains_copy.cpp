// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Chains, where rows are copied, captured and moved: blocks are shared, open
// tails copied.

#include <algorithm>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/plan/chains.h"

namespace holdfast {

namespace {

/// What is wrong with a row that came from outside is the caller's mistake.
void as_refusal(const auto& check) {
  try {
    check();
  } catch (const Error& error) {
    throw Error(ErrorCode::kInvalidArgument, error.what());
  }
}

/// The last block where it is open. A window of one position may leave a row
/// without a last block.
bool has_open_tail(const std::vector<BlockRef>& blocks) {
  return !blocks.empty() && blocks.back() && !blocks.back().sealed();
}

} // namespace

Bytes block_bytes(const std::vector<std::vector<BlockRef>>& blocks) {
  Bytes result;
  for (const auto& group : blocks) {
    for (const BlockRef& block : group) {
      result += block ? block.bytes() : Bytes(0);
    }
  }
  return result;
}

Bytes CapturedRow::bytes() const {
  return block_bytes(blocks);
}

std::vector<Chains::Row>
Chains::copies(const Chains& source, std::span<const RowId> rows) {
  std::vector<Row> result;
  Bytes tails;
  for (const RowId row : rows) {
    const Row& from = source.at(row);
    result.push_back({from.chain, from.blocks});
    for (const auto& blocks : result.back().blocks) {
      tails += has_open_tail(blocks) ? blocks.back().bytes() : Bytes(0);
    }
  }
  pool_.require(tails);
  for (Row& row : result) {
    for (auto& blocks : row.blocks) {
      if (has_open_tail(blocks)) {
        blocks.back() = pool_.copy(blocks.back());
      }
    }
  }
  return result;
}

RowId Chains::fork(RowId row) {
  require_no_step("[chains.fork]");
  return add(std::move(copies(*this, {&row, 1}).front()));
}

std::vector<RowId>
Chains::copy(const Chains& source, std::span<const RowId> rows) {
  require_no_step("[chains.copy]");
  source.require_no_step("[chains.copy]");
  expect(
      &source.pool_ == &pool_ && source.rules_ == rules_,
      "[chains.copy] expected rows of the same pool and rules, got others");
  source.batch_.require_distinct(rows, "[chains.copy]");
  std::vector<RowId> result;
  result.reserve(rows.size());
  std::vector<Row> copied = copies(source, rows);
  reserve(copied.size());
  for (Row& row : copied) {
    result.push_back(add(std::move(row)));
  }
  return result;
}

CapturedRow Chains::capture(RowId row) {
  require_no_step("[chains.capture]");
  const Row& of = at(row);
  CapturedRow result{rules_, of.chain, of.blocks};
  const auto has_tail = [&](const std::vector<BlockRef>& blocks) {
    return of.chain.sealed_end() < BlockIndex(std::ssize(blocks)) &&
        blocks.back();
  };
  Bytes tails;
  for (const auto& blocks : result.blocks) {
    tails += has_tail(blocks) ? blocks.back().bytes() : Bytes(0);
  }
  pool_.require(tails);
  for (int64_t group = 0; group < groups(); ++group) {
    auto& blocks = result.blocks[static_cast<size_t>(group)];
    if (!has_tail(blocks)) {
      continue;
    }
    blocks.back() = pool_.copy(blocks.back());
    if (blank_) {
      blank_(
          {.group = group,
           .phase = phase_of_kind(group, blocks.back().kind()),
           .image = blocks.back().mutable_image(),
           .committed = of.chain.committed()});
    }
    blocks.back().seal();
  }
  return result;
}

std::vector<std::vector<BlockRef>>
Chains::hold(std::span<const RowId> rows, int64_t group) {
  std::vector<std::vector<BlockRef>> result;
  Bytes tails;
  for (const RowId row : rows) {
    const auto held = blocks(row, group);
    result.emplace_back(held.begin(), held.end());
    tails += has_open_tail(result.back()) ? held.back().bytes() : Bytes(0);
  }
  pool_.require(tails);
  for (auto& held : result) {
    if (has_open_tail(held)) {
      held.back() = pool_.copy(held.back());
      held.back().seal();
    }
  }
  return result;
}

RowId Chains::add(const CapturedRow& captured) {
  require_no_step("[chains.add]");
  expect(
      std::ranges::equal(
          captured.rules,
          rules_,
          [](const GroupRule& theirs, const GroupRule& ours) {
            return theirs.goes_on_under(ours);
          }),
      "[chains.add] expected a row of the same rules, got one of others");
  expect(
      captured.blocks.size() == rules_.size(),
      "[chains.add] expected blocks of every layer group, got another number");
  Row row{captured.chain, captured.blocks};
  Bytes foreign;
  for (const auto& blocks : row.blocks) {
    for (const BlockRef& block : blocks) {
      expect(
          !block ||
              (block.kind() < pool_.kinds() &&
               block.bytes() == pool_.image_bytes(block.kind())),
          "[chains.add] expected images of this pool's sizes, got others");
      foreign += block && !pool_.owns(block) ? block.bytes() : Bytes(0);
    }
  }
  as_refusal([&] { check_row(row); });
  row.chain.keep_by(rules_);
  pool_.require(foreign);
  for (auto& blocks : row.blocks) {
    for (BlockRef& block : blocks) {
      if (block && !pool_.owns(block)) {
        block = pool_.copy(block);
        block.seal();
      }
    }
  }
  return add(std::move(row));
}

std::vector<RowId> Chains::adopt(Chains& source, std::span<const RowId> rows) {
  require_no_step("[chains.adopt]");
  source.require_no_step("[chains.adopt]");
  expect(
      &source != this && &source.pool_ == &pool_ && source.rules_ == rules_,
      "[chains.adopt] expected other rows of the same pool and rules, got "
      "different ones");
  source.batch_.require_distinct(rows, "[chains.adopt]");
  // `rows` may be source.order(), which shrinks below.
  const std::vector<RowId> from(rows.begin(), rows.end());
  std::vector<RowId> result;
  result.reserve(from.size());
  reserve(from.size());
  for (const RowId row : from) { // from here on nothing throws
    result.push_back(add(std::move(*source.rows_[row.slot])));
    source.remove(row);
  }
  return result;
}

} // namespace holdfast
