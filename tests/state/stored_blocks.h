// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a prefix index would keep of a row: its full blocks of every group and
// phase, and its tails, each as a copy in memory that faults when it is
// written.

#pragma once

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "holdfast/state/state.h"

namespace holdfast::test {

// The image in pages of its own that can only be read.
inline std::shared_ptr<const std::byte> read_only(const BlockRef& block) {
  const auto bytes = static_cast<size_t>(block.bytes().get());
  void* pages = mmap(
      nullptr,
      bytes,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS,
      -1,
      0);
  if (pages == MAP_FAILED) {
    throw std::bad_alloc();
  }
  std::memcpy(pages, block.image(), bytes);
  mprotect(pages, bytes, PROT_READ);
  return {static_cast<const std::byte*>(pages), [bytes](const std::byte* at) {
            munmap(const_cast<std::byte*>(at), bytes);
          }};
}

class StoredBlocks {
 public:
  // What became full in the row, which keeps its sealed blocks, since the last
  // call; and its tails.
  void take(State& state, RowId row) {
    for (const SealedBlock& sealed : state.take_sealed(row)) {
      put(sealed.group, sealed.phase, sealed.index.get(), sealed.block);
    }
    const std::vector<int32_t> tokens(
        static_cast<size_t>(state.length(row).get()));
    const Snapshot snapshot = state.snapshot(row, tokens);
    const CapturedRow& captured = snapshot.row();
    for (size_t group = 0; group < captured.blocks.size(); ++group) {
      const auto& blocks = captured.blocks[group];
      const auto of = static_cast<int64_t>(group);
      if (!blocks.empty() && blocks.back()) {
        put(of,
            captured.chain.phase(of),
            std::ssize(blocks) - 1,
            blocks.back());
      }
    }
  }

  // A new row of `state` of the first `facts.committed` positions.
  RowId adopt(State& state, const ChainFacts& facts) const {
    const auto rules = state.groups().rules();
    const Chain chain = Chain::restored(rules, kBlockTokens, facts);
    std::vector<std::vector<BlockRef>> held(rules.size());
    for (int64_t group = 0; group < std::ssize(rules); ++group) {
      const HeldBlocks blocks = chain.held(group);
      for (BlockIndex i(0); i < blocks.end; ++i) {
        if (blocks.holds(i)) {
          const int64_t phase = facts.phases[static_cast<size_t>(group)];
          held[static_cast<size_t>(group)].push_back(state.adopt_image(
              group, phase, images_.at({group, phase, i.get()})));
        }
      }
    }
    const std::vector<int32_t> tokens(
        static_cast<size_t>(facts.committed.get()));
    return state.adopt(state.assemble(tokens, facts, held));
  }

  size_t size() const {
    return images_.size();
  }

 private:
  void put(int64_t group, int64_t phase, int64_t index, const BlockRef& block) {
    images_[{group, phase, index}] = read_only(block);
  }
  std::map<
      std::tuple<int64_t, int64_t, int64_t>,
      std::shared_ptr<const std::byte>>
      images_;
};

} // namespace holdfast::test
