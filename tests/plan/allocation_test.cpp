// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// An allocation that fails, whichever: rows are copied and moved all or none,
// and no row loses what it holds.

#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "stamped.h"

namespace {

thread_local int64_t left_to_succeed = -1; // allocations; -1: all of them

void* allocated(size_t bytes) {
  if (left_to_succeed == 0) {
    throw std::bad_alloc();
  }
  left_to_succeed -= left_to_succeed > 0 ? 1 : 0;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

} // namespace

void* operator new(size_t bytes) {
  return allocated(bytes);
}
void* operator new[](size_t bytes) {
  return allocated(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}

namespace holdfast {
namespace {

using Ids = std::vector<RowId>;

/// The rows in order, and what each holds.
std::vector<std::vector<std::vector<uint64_t>>> held(const Chains& chains) {
  std::vector<std::vector<std::vector<uint64_t>>> result;
  for (const RowId row : chains.order()) {
    result.push_back(stamps_of(chains, row));
  }
  return result;
}

/// Calls with the first allocation failing, then the second, until none does;
/// how many did.
int fail_each(Chains& from, Chains& to, const auto& call) {
  const auto before = held(from);
  for (int failed = 0;; ++failed) {
    left_to_succeed = failed;
    try {
      call();
      left_to_succeed = -1;
      return failed;
    } catch (const std::bad_alloc&) {
      left_to_succeed = -1;
    }
    EXPECT_EQ(held(from), before) << failed;
    EXPECT_TRUE(to.order().empty()) << failed;
    from.check_invariants();
    to.check_invariants();
  }
}

TEST(Allocation, ThatFailsLeavesCopiedRowsAllOrNone) {
  Stamped rows({{}, {.window = 100}});
  Ids ids;
  for (const int64_t length : {70, 10, 130}) {
    ids.push_back(rows.chains.add());
    rows.feed(ids.back(), length, 1000);
  }
  Chains other(rows.pool, {{}, {.window = 100}});
  const int failed =
      fail_each(rows.chains, other, [&] { other.copy(rows.chains, ids); });
  EXPECT_GT(failed, 6); // a tail a row and group, and what holds the rows
  EXPECT_EQ(held(other), held(rows.chains));
}

TEST(Allocation, ThatFailsLosesNoRowThatIsMoved) {
  Stamped rows({{}, {.window = 100}});
  Ids ids;
  for (const int64_t length : {70, 10, 130}) {
    ids.push_back(rows.chains.add());
    rows.feed(ids.back(), length, 1000);
  }
  const auto before = held(rows.chains);
  Chains other(rows.pool, {{}, {.window = 100}});
  const int failed =
      fail_each(rows.chains, other, [&] { other.adopt(rows.chains, ids); });
  EXPECT_GT(failed, 3);
  EXPECT_EQ(held(other), before);
  EXPECT_TRUE(rows.chains.order().empty());
  other.check_invariants();
}

} // namespace
} // namespace holdfast
