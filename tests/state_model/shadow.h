// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a script of row operations on Chains and on a plain model of them (a
// std::vector of stamps a row), and compares everything after each operation.
// A difference throws std::runtime_error. The model shares no arithmetic with
// the code under test: it marks single blocks as released and sealed. A slot's
// stamp says its group and its phase too.

#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/block/pool.h"
#include "holdfast/plan/chains.h"

namespace holdfast::shadow {

enum class Verb {
  kAdd,
  kStep, // appends to some rows; ends as `c` says
  kFork,
  kTrim,
  kRemove,
  kReorder,
  kMove, // some rows to the other batch
  kFilter, // some rows, in another order
  kCopy, // some rows, to the other batch
  kCapture, // as a value, which is added again
  kCount
};

/// `a`, `b`, `c` are reduced to what is possible when the operation runs.
struct Operation {
  Verb verb = Verb::kAdd;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
};
std::ostream& operator<<(std::ostream& out, const Operation& operation);

/// One of each kind of retention.
std::vector<GroupRule> all_retentions();
/// Rows that change their precision, once, twice and not at all.
std::vector<GroupRule> all_phases();
/// Groups that keep blocks to go back to, beside one that keeps all.
std::vector<GroupRule> all_keeping();

struct Options {
  std::vector<GroupRule> rules = all_retentions();
  Bytes budget = kUnlimitedBytes;
  /// Compare everything after every so many operations.
  int64_t verify_every = 1;
  int64_t max_rows = 6;
};

class Shadow {
 public:
  explicit Shadow(Options options);
  void run(const Operation& operation);
  /// Compares both batches with the model.
  void verify() const;
  /// Removes all rows; nothing may stay alive.
  void finish();

  int64_t refusals() const {
    return refusals_;
  }
  const BlockPool& pool() const {
    return *pool_;
  }

 private:
  struct Row {
    RowId id;
    std::vector<uint64_t> stamps; // [position], committed
    std::vector<std::vector<bool>> sealed; // [group][block]
    std::vector<std::vector<bool>> released; // [group][block]
    std::vector<size_t> phases; // [group]
    std::vector<BidirectionalSpan> spans;
  };
  struct Side {
    std::unique_ptr<Chains> chains;
    std::vector<Row> rows; // in order
  };
  struct Draft { // one row of a step
    size_t row = 0;
    int64_t count = 0;
    std::vector<uint64_t> stamps;
    std::vector<BidirectionalSpan> spans; // one at most
  };

  void add(Side& side);
  void step(Side& side, const Operation& operation);
  void fork(Side& side, const Operation& operation);
  void trim(Side& side, const Operation& operation);
  void remove(Side& side, const Operation& operation);
  void reorder(Side& side, const Operation& operation);
  void move(Side& from, Side& to, const Operation& operation);
  void filter(Side& side, const Operation& operation);
  void copy(Side& from, Side& to, const Operation& operation);
  void capture(Side& side, const Operation& operation);

  std::vector<Draft> drafts(const Side& side, const Operation& operation);
  void add_span(const Row& row, Draft& draft, std::mt19937& random) const;
  void check_plan(const Side& side, const std::vector<Draft>&, const StepPlan&)
      const;
  void write(const StepPlan& plan, std::vector<Draft>& drafts);
  void
  end_step(Side& side, Transaction step, const std::vector<Draft>&, uint32_t);
  void settle(Row& row, const Draft& draft, int64_t accepted) const;
  int64_t bytes_needed(const Side& side, const std::vector<Draft>&) const;
  /// Positions to the next start of a phase of any group, or to the end of the
  /// span over it.
  int64_t
  room_of(const Row& row, const std::vector<BidirectionalSpan>& spans) const;
  bool has_phases() const;
  /// Says that what is due of a row was converted.
  void convert(Row& row) const;
  /// The images of open tails.
  int64_t tail_bytes(const Row& row) const;
  int64_t floor_of(const Row& row) const;
  /// A trim may leave that length: its next query finds what it sees.
  bool may_leave(const Row& row, int64_t length) const;
  void verify_row(const Side& side, const Row& row) const;
  /// Everything that a refused call must leave as it was.
  std::string dump() const;
  void expect_refused(ErrorCode code, const std::string& before, ErrorCode got);
  bool fits(int64_t bytes) const;

  Options options_;
  std::unique_ptr<BlockPool> pool_;
  std::array<Side, 2> sides_;
  std::vector<RowId> gone_; // since the last comparison
  std::mt19937_64 random_{20261129};
  int64_t operations_ = 0;
  int64_t refusals_ = 0;
};

} // namespace holdfast::shadow
