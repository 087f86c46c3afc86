// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows whose slots hold a stamp a position, over three groups: one that
// changes its precision at a start, one that never does, one that does behind a
// window. Encoded images are a quarter of the dense ones.

#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "stamped.h"

namespace holdfast {

struct Phased {
  static constexpr int64_t kDense = 16384;
  static constexpr int64_t kEncoded = 4096;
  static constexpr int64_t kWindow = 40;

  explicit Phased(int64_t of, Bytes budget = kUnlimitedBytes)
      : start(of),
        pool(
            {Bytes(kDense),
             Bytes(kEncoded),
             Bytes(kDense),
             Bytes(kDense),
             Bytes(kEncoded)},
            budget),
        chains(pool, rules(), converter()) {}

  std::vector<GroupRule> rules() const {
    return {
        {.starts = {Position(start)}},
        {},
        {.window = kWindow, .starts = {Position(start)}}};
  }
  /// Counts the blocks of the first group, and fails after so many.
  BlockConverter converter() {
    return [this](const BlockConversion& conversion) {
      if (conversion.group == 0) {
        if (fail_after == 0) {
          throw std::runtime_error("the codec failed");
        }
        --fail_after;
        ++conversions;
        slots += conversion.slots;
      }
      for (int64_t slot = 0; slot < conversion.slots; ++slot) {
        const uint64_t stamp = stamp_in(conversion.source, slot);
        std::memcpy(conversion.target + slot * 8, &stamp, 8);
      }
    };
  }

  void feed(RowId row, int64_t count, uint64_t stamp) {
    Transaction step = chains.begin(std::vector<RowAppend>{{row, count}});
    stamp_step(*step.plan(), stamp);
    step.commit_all();
  }
  int64_t phase(RowId row) const {
    return chains.chain(row).phase(0);
  }
  /// [group][position], 0 where it was released.
  std::vector<std::vector<uint64_t>> content(RowId row) const {
    return stamps_of(chains, row);
  }
  /// Every position held is `stamp` + its index, all of them in the first two.
  void expect_content(RowId row, uint64_t stamp) const {
    const auto all = content(row);
    for (size_t group = 0; group < all.size(); ++group) {
      for (size_t p = 0; p < all[group].size(); ++p) {
        if (group < 2 || all[group][p] != 0) {
          ASSERT_EQ(all[group][p], stamp + p) << group;
        }
      }
    }
  }
  std::string dump() const {
    return dump_of(chains, pool);
  }

  const int64_t start;
  BlockPool pool;
  Chains chains;
  int64_t conversions = 0;
  int64_t slots = 0;
  int64_t fail_after = -1;
};

} // namespace holdfast
