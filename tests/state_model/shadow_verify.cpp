// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>

#include "shadow.h"
#include "slots.h"

namespace holdfast::shadow {

void Shadow::verify() const {
  std::set<const std::byte*> images;
  Bytes bytes;
  for (const Side& side : sides_) {
    side.chains->check_invariants();
    require(
        side.chains->order().size() == side.rows.size(), "the model's rows");
    for (size_t i = 0; i < side.rows.size(); ++i) {
      const Row& row = side.rows[i];
      require(side.chains->order()[i] == row.id, "the model's order");
      verify_row(side, row);
      for (int64_t group = 0; group < side.chains->groups(); ++group) {
        for (const BlockRef& block : side.chains->blocks(row.id, group)) {
          if (block && images.insert(block.image()).second) {
            bytes += block.bytes();
          }
        }
      }
    }
    for (const RowId& row : gone_) {
      require(!side.chains->contains(row), "removed rows to stay away");
    }
  }
  require(pool_->live_bytes() == bytes, "live bytes of the images held");
  require(
      pool_->live_blocks() == static_cast<int64_t>(images.size()),
      "live blocks of the images held");
  require(pool_->peak_bytes() <= pool_->budget(), "a peak within the budget");
  require(pool_->live_bytes() <= pool_->mapped_bytes(), "live images mapped");
}

void Shadow::verify_row(const Side& side, const Row& row) const {
  const Chain& chain = side.chains->chain(row.id);
  const int64_t size = std::ssize(row.stamps);
  require(chain.committed() == Position(size), "the committed length");
  require(chain.written() == Position(size), "nothing tentative");
  require(chain.reusable_floor() == Position(floor_of(row)), "the floor");
  require(std::ranges::equal(chain.spans(), row.spans), "the row's spans");
  require(chain.max_append() == room_of(row, {}), "the room to the next phase");
  for (const int64_t most : {size / 3, size - 1, size, size + 5}) {
    int64_t want = std::max<int64_t>(0, std::min(most, size));
    while (!may_leave(row, want)) {
      --want;
    }
    require(
        chain.reusable_length(Position(most)) == Position(want),
        "the longest prefix that can be reused");
  }
  for (size_t group = 0; group < row.released.size(); ++group) {
    const auto blocks =
        side.chains->blocks(row.id, static_cast<int64_t>(group));
    require(blocks.size() == row.sealed[group].size(), "the number of blocks");
    require(
        chain.phase(static_cast<int64_t>(group)) ==
            static_cast<int64_t>(row.phases[group]),
        "the model's phases");
    for (size_t b = 0; b < blocks.size(); ++b) {
      require(
          static_cast<bool>(blocks[b]) == !row.released[group][b],
          "exactly the blocks that were not released");
      if (!blocks[b]) {
        continue;
      }
      require(blocks[b].sealed() == row.sealed[group][b], "the model's seals");
      require(
          blocks[b].bytes() ==
              Bytes(image_bytes(
                  row.phases[group], options_.rules[group].starts.size() + 1)),
          "images of the phase");
      const auto first = static_cast<int64_t>(b) * kBlockTokens;
      for (int64_t p = first; p < std::min(size, first + kBlockTokens); ++p) {
        require(
            stamp_at(blocks[b].image(), p) ==
                mixed(
                    row.stamps[static_cast<size_t>(p)],
                    group,
                    row.phases[group]),
            "the row's own stamps");
      }
    }
  }
}

std::string Shadow::dump() const {
  std::ostringstream out;
  for (const Side& side : sides_) {
    for (const RowId row : side.chains->order()) {
      const Chain& chain = side.chains->chain(row);
      out << row.slot << "#" << row.generation << " " << chain.committed().get()
          << " " << chain.written().get() << " " << chain.reusable_floor().get()
          << ":";
      for (int64_t group = 0; group < side.chains->groups(); ++group) {
        for (const BlockRef& block : side.chains->blocks(row, group)) {
          if (!block) {
            out << " -";
            continue;
          }
          const std::string_view bytes(
              reinterpret_cast<const char*>(block.image()),
              static_cast<size_t>(block.bytes().get()));
          out << " " << static_cast<const void*>(block.image()) << "/"
              << block.sealed() << block.shared() << "/"
              << std::hash<std::string_view>{}(bytes);
        }
      }
      out << "\n";
    }
    out << side.chains->open_generation() << "\n";
  }
  out << pool_->live_bytes().get() << " " << pool_->peak_bytes().get() << " "
      << pool_->live_blocks() << " " << pool_->mapped_bytes().get();
  return out.str();
}

} // namespace holdfast::shadow
