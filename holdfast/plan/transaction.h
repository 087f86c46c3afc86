// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// An open step over the rows of a Chains: commit settles some of what was
// appended, everything else leaves the rows as they were. For all groups at
// once. Engine thread only.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "holdfast/plan/step_plan.h"

namespace holdfast {

class Chains;

class Transaction {
 public:
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  /// Rolls back where still open.
  ~Transaction();

  bool open() const {
    return chains_ != nullptr;
  }
  /// The plan. Its images may be used while the step is open; the numbers stay.
  const std::shared_ptr<const StepPlan>& plan() const {
    return plan_;
  }
  /// Settles the first accepted[i], 0 .. count, positions of the i-th row and
  /// ends the step. Throws kStale on an ended step, kInvalidArgument for wrong
  /// counts; then the step is as it was.
  void commit(std::span<const int64_t> accepted);
  /// Accepts everything.
  void commit_all();
  /// Ends the step; nothing happened. No effect on an ended step.
  void rollback() noexcept;

 private:
  friend class Chains;
  struct Undo;
  Transaction(Chains& chains, std::unique_ptr<Undo> undo);
  void finish() noexcept;

  Chains* chains_ = nullptr; // null: ended
  std::unique_ptr<Undo> undo_;
  std::shared_ptr<const StepPlan> plan_;
};

} // namespace holdfast
