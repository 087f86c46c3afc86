// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Comparisons.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "rig.h"
#include "tests/code_of.h"

namespace holdfast::conformance {

namespace {

// A recurrent layer is written out from its row's beginning: for short ones.
constexpr size_t kLongRecurrence = 75;

std::string at_layer(size_t layer) {
  return " of layer " + std::to_string(layer);
}

template <class T>
bool same_bytes(const T* a, const T* b, int64_t count) {
  return std::memcmp(a, b, static_cast<size_t>(count) * sizeof(T)) == 0;
}

} // namespace

void Rig::check(const Side& side) const {
  require(side.state.rows().size() == side.rows.size(), "the model's rows");
  for (size_t i = 0; i < side.rows.size(); ++i) {
    const PlayedRow& row = side.rows[i];
    require(side.state.rows()[i] == row.id, "the model's order");
    require(side.state.length(row.id).get() == row.size(), "the row's length");
    require(
        side.state.reusable_floor(row.id).get() == floor_of(row),
        "the row's floor");
    int64_t length = row.size() * 2 / 3;
    while (!may_leave(row, length)) {
      --length;
    }
    require(
        side.state.reusable_length(row.id, Position(row.size() * 2 / 3)) ==
            Position(length),
        "the longest prefix to reuse");
    require(
        side.state.max_append(row.id) == room_of(row, {}), "the row's room");
  }
}

// A snapshot of every row shows all images; each open tail stands as a copy of
// its size. A sealed one, which a fork shares, is one more.
void Rig::check_bytes() {
  const Bytes before = sides_[0].state.bytes();
  std::set<const std::byte*> images;
  Bytes held;
  const auto count = [&](const Snapshot& snapshot) {
    for (const auto& group : snapshot.row().blocks) {
      for (const BlockRef& block : group) {
        if (block && images.insert(block.image()).second) {
          held += block.bytes();
        }
      }
    }
  };
  Bytes sealed_tails;
  {
    std::vector<Snapshot> all;
    for (Side& side : sides_) {
      for (const PlayedRow& row : side.rows) {
        const Bytes without = side.state.bytes();
        {
          const State fork = side.state.extract({&row.id, 1});
          sealed_tails -= fork.bytes() - without;
        }
        all.push_back(side.state.snapshot(row.id, row.ids()));
        sealed_tails += side.state.bytes() - without -
            bytes_beside_images(all.back().tokens(), {});
        require(
            all.back().row().bytes() == side.state.retained_bytes(row.id),
            "a row to retain the images it holds");
        count(all.back());
      }
    }
    for (const Kept& kept : kept_) {
      count(kept.snapshot);
      held += bytes_beside_images(
          kept.snapshot.tokens(), kept.snapshot.attachments());
    }
  }
  require(
      held >= before && held <= before + sealed_tails,
      "live bytes to be the whole images held and what snapshots add");
  require(sides_[1].state.bytes() == before, "the bytes before the snapshots");
}

// Of the last `count` tokens: the last over one layer, another over the next.
void Rig::check_reads(const PlayedRow& row, size_t count) {
  const size_t size = row.tokens.size();
  const std::vector<TokenAt> text = row.text();
  for (size_t i = 0; i < std::min<size_t>(count, 2); ++i) {
    size_t layer = (ticks_ + i) % cells_.size();
    const size_t position =
        i == 0 ? size - 1 : size - count + (ticks_ * 7) % count;
    if (cells_[layer].recurrent && position > kLongRecurrence) {
      layer = 0;
    }
    const Truth::Output want = cells_[layer].recurrent
        ? recurrent_.attend(std::span(text).first(position + 1))
        : truths_[layer].attend(
              text, static_cast<int64_t>(position), row.phases[layer]);
    const PlayedToken& token = row.tokens[position];
    const float* got =
        (*token.outputs)[layer].data() + token.at * std::ssize(want.values);
    for (size_t d = 0; d < want.values.size(); ++d) {
      const double error = std::fabs(want.values[d] - got[d]);
      require(
          error <= want.bound, // false where it is no number
          "a read at position " + std::to_string(position) + at_layer(layer) +
              " within " + std::to_string(want.bound) +
              " of exact attention, got " + std::to_string(error));
    }
  }
}

void Rig::check_stored(const Side& side, const PlayedRow& row, size_t layer) {
  if (cells_[layer].recurrent) {
    require(
        code_of([&] {
          side.state.fetch(row.id, LayerIndex(static_cast<int64_t>(layer)));
        }) == ErrorCode::kUnsupported,
        "no keys and values of a recurrent layer");
    return;
  }
  const FetchedChannels got =
      side.state.fetch(row.id, LayerIndex(static_cast<int64_t>(layer)));
  Truth& truth = truths_[layer];
  const int64_t keys = got.heads * got.key_dim;
  const int64_t values = got.heads * got.value_dim;
  int64_t n = 0;
  for (int64_t p = 0; p < row.size(); ++p) {
    if (row.released[layer][static_cast<size_t>(p / kBlockTokens)]) {
      continue;
    }
    require(
        n < std::ssize(got.positions) &&
            got.positions[static_cast<size_t>(n)] == p,
        "position " + std::to_string(p) + at_layer(layer) + " to be held");
    const KeysValues& want = truth.stored(
        row.tokens[static_cast<size_t>(p)].token, row.phases[layer]);
    require(
        same_bytes(want.keys.data(), got.keys.data() + n * keys, keys) &&
            same_bytes(
                want.values.data(), got.values.data() + n * values, values),
        "encode(truth) at position " + std::to_string(p) + at_layer(layer));
    ++n;
  }
  require(n == std::ssize(got.positions), "no position that was released");
}

// A block holds its positions' inputs, and those before it that the convolution
// sees.
void Rig::check_inputs(Side& side, const PlayedRow& row, size_t layer) {
  const Snapshot taken = side.state.snapshot(row.id, row.ids());
  const LayerPlace place =
      groups().place(LayerIndex(static_cast<int64_t>(layer)));
  const ImageLayout& layout = groups().group(place.group).phases[0].layout;
  const auto& blocks = taken.row().blocks[static_cast<size_t>(place.group)];
  const RecurrentSpec& spec = recurrent_.spec();
  const std::vector<float> nothing(static_cast<size_t>(spec.head_width()));
  for (int64_t b = 0; b < std::ssize(blocks); ++b) {
    const BlockRef& block = blocks[static_cast<size_t>(b)];
    require(
        !block == row.released[layer][static_cast<size_t>(b)],
        "the blocks that stay" + at_layer(layer));
    const int64_t end = std::min(row.size(), (b + 1) * kBlockTokens);
    const int64_t first = b * kBlockTokens - (spec.taps - 1);
    for (int64_t head = 0; block && head < spec.key_heads; ++head) {
      const std::byte* at = block.image() +
          layout.offset(place.layer, head, kRecurrentInputs).get();
      for (int64_t p = first; p < end; ++p) {
        const auto want = p < 0
            ? nothing
            : recurrent_.kept(
                  row.tokens[static_cast<size_t>(p)].token.id, head);
        require(
            std::memcmp(
                at + (p - first) * std::ssize(want) * 4,
                want.data(),
                want.size() * 4) == 0,
            "the inputs of position " + std::to_string(p) + at_layer(layer));
      }
      for (int64_t p = end; p < (b + 1) * kBlockTokens; ++p) {
        require(
            std::memcmp(
                at + (p - first) * std::ssize(nothing) * 4,
                nothing.data(),
                nothing.size() * 4) == 0,
            "no inputs behind the row's positions" + at_layer(layer));
      }
    }
  }
}

// Encoding the truth over what is stored changes nothing, in any plane; nor
// does encoding zeros behind the row's positions.
void Rig::check_images(Side& side, const PlayedRow& row, size_t layer) {
  if (cells_[layer].recurrent) {
    check_inputs(side, row, layer);
    return;
  }
  const Snapshot taken = side.state.snapshot(row.id, row.ids());
  const LayerPlace place =
      groups().place(LayerIndex(static_cast<int64_t>(layer)));
  const LayerGroup& group = groups().group(place.group);
  const size_t in_phase = row.phases[layer];
  const GroupPhase& phase = group.phases[in_phase];
  const auto& blocks = taken.row().blocks[static_cast<size_t>(place.group)];
  for (int64_t b = 0; b < std::ssize(blocks); ++b) {
    const BlockRef& block = blocks[static_cast<size_t>(b)];
    if (!block) {
      continue;
    }
    require(block.bytes() == phase.layout.bytes(), "an image of the phase");
    std::vector<std::byte> copy(
        block.image(), block.image() + block.bytes().get());
    KeysValues nothing =
        truths_[layer].source(row.tokens.front().token, in_phase);
    std::ranges::fill(nothing.keys, 0.0f);
    std::ranges::fill(nothing.values, 0.0f);
    for (int64_t p = b * kBlockTokens; p < (b + 1) * kBlockTokens; ++p) {
      const KeysValues& source = p < row.size()
          ? truths_[layer].source(
                row.tokens[static_cast<size_t>(p)].token, in_phase)
          : nothing;
      for (const ChannelRole role :
           {ChannelRole::kKeys, ChannelRole::kValues}) {
        const int64_t dim = std::ssize(source.of(role)) / group.kv_heads;
        for (int64_t head = 0; head < group.kv_heads; ++head) {
          phase.codec(role).encode(
              role,
              {source.of(role).data() + head * dim, static_cast<size_t>(dim)},
              p % kBlockTokens,
              phase.planes(copy.data(), place.layer, head, role));
        }
      }
    }
    require(
        same_bytes(std::as_const(copy).data(), block.image(), std::ssize(copy)),
        "the bytes of encode(truth) in block " + std::to_string(b) +
            at_layer(layer));
  }
}

void Rig::check_alone(RowId row, const PlayedRow& played, int64_t from) {
  const std::vector<int32_t> ids = played.ids();
  const std::vector<BidirectionalSpan> spans = played.spans();
  while (from < played.size()) {
    const int64_t count = alone_.fit_append(row, played.size() - from, spans);
    const RowAppend append{
        row, count, spans_from(spans, Position(from), Position(from + count))};
    Step step = alone_.begin({&append, 1});
    const std::vector<Draft> drafts{
        {.row = row,
         .index = 0,
         .tokens = {ids.begin() + from, ids.begin() + from + count},
         .spans = {}}};
    const auto outputs = attend(step, drafts, cells_.size());
    step.commit_all();
    for (size_t layer = 0; layer < cells_.size(); ++layer) {
      if (!cells_[layer].exact()) {
        continue;
      }
      const int64_t width = std::ssize((*outputs)[layer]) / count;
      for (int64_t i = 0; i < count; ++i) {
        const PlayedToken& token = played.tokens[static_cast<size_t>(from + i)];
        require(
            same_bytes(
                (*outputs)[layer].data() + i * width,
                (*token.outputs)[layer].data() + token.at * width,
                width),
            "the bits of the row alone at position " +
                std::to_string(from + i) + at_layer(layer));
      }
    }
    from += count;
  }
}

// From the trunk on, which is alone too, where the row is a branch of it.
void Rig::check_alone(const PlayedRow& row, const std::optional<RowId>& trunk) {
  if (trunk) {
    const std::vector<TokenAt> text = row.text();
    const std::vector<TokenAt> prefix = trunk_->text();
    if (std::ssize(text) >= std::ssize(prefix) &&
        std::equal(prefix.begin(), prefix.end(), text.begin())) {
      check_alone(alone_.fork_row(*trunk), row, trunk_->size());
      return;
    }
  }
  check_alone(alone_.add_row(), row, 0);
}

void Rig::finish() {
  std::optional<RowId> trunk;
  if (trunk_) {
    trunk = alone_.add_row();
    check_alone(*trunk, *trunk_, 0);
  }
  for (Side& side : sides_) {
    for (const PlayedRow& row : side.rows) {
      const size_t layer = ++ticks_ % cells_.size();
      check_stored(side, row, layer);
      check_stored(side, row, (layer + 2) % cells_.size());
      check_images(side, row, (layer + 4) % cells_.size());
      check_alone(row, trunk);
    }
  }
  // A row of a snapshot goes on, in a state of its own, as its row did.
  for (const Kept& kept : kept_) {
    for (const Side& side : sides_) {
      for (const PlayedRow& row : side.rows) {
        const std::vector<TokenAt> text = row.text();
        const std::vector<TokenAt> prefix = kept.row.text();
        if (std::ssize(text) > std::ssize(prefix) &&
            std::equal(prefix.begin(), prefix.end(), text.begin())) {
          check_alone(alone_.adopt(kept.snapshot), row, kept.row.size());
        }
      }
    }
  }
  clear();
}

} // namespace holdfast::conformance
