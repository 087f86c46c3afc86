// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Small helpers for tests of Chains: rows whose slots hold a stamp a position.

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "holdfast/block/layout.h"
#include "holdfast/block/pool.h"
#include "holdfast/plan/chains.h"
#include "tests/code_of.h"

namespace holdfast {

inline constexpr int64_t kStampedImage = 4096;

inline uint64_t stamp_in(const std::byte* image, int64_t position) {
  uint64_t result = 0;
  std::memcpy(&result, image + position % kBlockTokens * 8, sizeof(result));
  return result;
}

/// Writes `stamp` + position into every slot of the step's rows.
inline void stamp_step(const StepPlan& plan, uint64_t stamp) {
  for (const auto& group : plan.groups) {
    for (size_t row = 0; row < plan.rows.size(); ++row) {
      for (int64_t n = 0; n < plan.rows[row].count; ++n) {
        const int64_t p = plan.rows[row].start + n;
        const uint64_t value = stamp + static_cast<uint64_t>(p);
        std::byte* image =
            group[row].images[static_cast<size_t>(p / kBlockTokens)];
        std::memcpy(image + p % kBlockTokens * 8, &value, sizeof(value));
      }
    }
  }
}

/// What a row holds: [group][position], 0 where it was released.
inline std::vector<std::vector<uint64_t>>
stamps_of(const Chains& chains, RowId row) {
  std::vector<std::vector<uint64_t>> result;
  const int64_t size = chains.chain(row).committed().get();
  for (int64_t group = 0; group < chains.groups(); ++group) {
    auto& stamps = result.emplace_back();
    const auto blocks = chains.blocks(row, group);
    for (int64_t p = 0; p < size; ++p) {
      const BlockRef& block = blocks[static_cast<size_t>(p / kBlockTokens)];
      stamps.push_back(block ? stamp_in(block.image(), p) : 0);
    }
  }
  return result;
}

/// Everything that a refused call must leave as it was.
inline std::string dump_of(const Chains& chains, const BlockPool& pool) {
  std::string result;
  const auto put = [&](int64_t number) {
    result += std::to_string(number) + " ";
  };
  for (const RowId row : chains.order()) {
    put(row.slot);
    put(static_cast<int64_t>(row.generation));
    const Chain& chain = chains.chain(row);
    put(chain.committed().get());
    put(chain.written().get());
    put(chain.reusable_floor().get());
    for (int64_t group = 0; group < chains.groups(); ++group) {
      for (const BlockRef& block : chains.blocks(row, group)) {
        if (block) {
          put(block.sealed());
          put(block.shared());
          result += std::string(
              reinterpret_cast<const char*>(block.image()),
              static_cast<size_t>(block.bytes().get()));
        }
        result += "|";
      }
    }
  }
  put(static_cast<int64_t>(chains.open_generation()));
  put(pool.live_bytes().get());
  put(pool.peak_bytes().get());
  put(pool.live_blocks());
  put(pool.mapped_bytes().get());
  return result;
}

/// Rows over a pool of their own.
struct Stamped {
  explicit Stamped(
      std::vector<GroupRule> retentions,
      Bytes budget = kUnlimitedBytes)
      : pool(
            std::vector<Bytes>(retentions.size(), Bytes(kStampedImage)),
            budget),
        chains(pool, retentions) {}

  /// Appends and commits stamped positions.
  void feed(RowId row, int64_t count, uint64_t stamp) {
    Transaction step = chains.begin(std::vector<RowAppend>{{row, count}});
    stamp_step(*step.plan(), stamp);
    step.commit_all();
  }

  std::vector<std::vector<uint64_t>> content(RowId row) const {
    return stamps_of(chains, row);
  }
  std::string dump() const {
    return dump_of(chains, pool);
  }

  BlockPool pool;
  Chains chains;
};

} // namespace holdfast
