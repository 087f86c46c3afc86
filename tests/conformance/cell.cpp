// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "cell.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <sstream>

#include "holdfast/codec/kv_choice.h"

namespace holdfast::conformance {

namespace {

// None, below a block, a block, two blocks, no multiple, wider than the rows.
constexpr int64_t kWindows[] = {0, 20, 64, 128, 100, 400};
constexpr int64_t kSinks[] = {0, 4, 65};
constexpr int64_t kLatentWindows[] = {0, 100, 0, 20, 0};

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  int64_t below(int64_t end) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(end));
  }
  template <class T, size_t n>
  T of(const T (&values)[n]) {
    return values[below(static_cast<int64_t>(n))];
  }
  /// A codec that kernels know, for the other role.
  const Codec* partner() {
    std::vector<const Codec*> codecs = all_codecs();
    std::erase_if(codecs, [](const Codec* codec) {
      return codec->form().kind == CodecKind::kOther;
    });
    return codecs[static_cast<size_t>(below(std::ssize(codecs)))];
  }

 private:
  std::mt19937_64 random_;
};

/// A head size that all codecs of that role store; small ones more often.
int64_t
head_size(const std::vector<LayerPhase>& phases, ChannelRole role, Draw& draw) {
  std::vector<int64_t> fitting;
  for (const int64_t dim : {32, 64, 64, 64, 80, 96, 128, 256}) {
    if (std::all_of(phases.begin(), phases.end(), [&](const LayerPhase& phase) {
          return (role == ChannelRole::kKeys ? phase.keys : phase.values)
              ->supports(role, dim)
              .ok();
        })) {
      fitting.push_back(dim);
    }
  }
  return fitting.at(static_cast<size_t>(draw.below(std::ssize(fitting))));
}

/// Five ways through time: at once, from inside a block, from a block's start,
/// never, and by another codec.
std::vector<LayerPhase>
phases_of(int64_t kind, LayerPhase last, bool from_f32, Draw& draw) {
  const Codec* dense = find_codec(from_f32 ? "f32" : "bf16").value();
  std::vector<LayerPhase> phases{{.keys = dense, .values = dense}};
  switch (kind) {
    case 0:
      return {last};
    case 1:
      last.start = Position(10);
      break;
    case 2:
      last.start = Position(kBlockTokens);
      break;
    case 3:
      last.start = kNeverStart;
      break;
    default:
      phases.push_back(
          {.keys = draw.partner(),
           .values = draw.partner(),
           .start = Position(30)});
      last.start = Position(100);
  }
  phases.push_back(last);
  return phases;
}

} // namespace

std::string Cell::text() const {
  std::ostringstream text;
  if (recurrent) {
    text << "recurrent, " << recurrent->key_heads << " key heads of "
         << recurrent->key_dim << ", " << recurrent->value_heads
         << " value heads of " << recurrent->value_dim << ", "
         << recurrent->taps << " taps";
    return text.str();
  }
  text << (spec.latent ? "latent, " : "");
  for (const LayerPhase& phase : phases) {
    text << phase.keys->name() << " / " << phase.values->name() << " from "
         << phase.start.get() << ", ";
  }
  text << "window " << spec.visibility.window << ", sinks "
       << spec.visibility.sinks << ", heads " << spec.query_heads << ":"
       << spec.kv_heads << " of " << spec.key_dim << " / " << spec.value_dim
       << ", cap " << spec.softcap << ", " << spec.sink_logits.size()
       << " sink logits" << (spec.visibility.spans ? "" : ", no spans");
  if (spec.donor) {
    text << ", over layer " << spec.donor->get();
  }
  return text.str();
}

Visibility Cell::sees() const {
  return recurrent ? Visibility{.window = kRecurrentWindow} : spec.visibility;
}

int64_t Cell::output_width() const {
  return recurrent ? recurrent->output_width()
                   : spec.query_heads * spec.value_dim;
}

// Latents are read by a kernel that asks any codec to decode.
bool Cell::exact() const {
  return spec.latent ||
      std::none_of(phases.begin(), phases.end(), [](const LayerPhase& phase) {
           return phase.keys->form().kind == CodecKind::kOther ||
               phase.values->form().kind == CodecKind::kOther;
         });
}

namespace {

/// One latent and one key for all heads; no caps and sinks, which no kernel of
/// ours reads over a latent.
Cell latent_cell(const Codec& codec, int64_t round, Draw& draw) {
  Cell cell;
  const LayerPhase last{.keys = &codec, .values = &codec};
  cell.phases = phases_of(draw.below(5), last, draw.below(4) == 0, draw);
  cell.spec.latent = true;
  cell.spec.visibility.window = kLatentWindows[round % 5];
  cell.spec.visibility.spans = draw.below(6) != 0;
  cell.spec.kv_heads = 1;
  cell.spec.query_heads = 1 + draw.below(3);
  cell.spec.key_dim = head_size(cell.phases, ChannelRole::kKeys, draw);
  cell.spec.value_dim = head_size(cell.phases, ChannelRole::kValues, draw);
  cell.spec.scale = 3.0f / std::sqrt(static_cast<float>(cell.spec.query_dim()));
  return cell;
}

Cell recurrent_cell(Draw& draw) {
  RecurrentSpec spec{
      .key_heads = 1 + draw.below(2),
      .value_heads = 0,
      .key_dim = 16,
      .value_dim = 16 + 16 * draw.below(2),
      .taps = 1 + draw.below(4)};
  spec.value_heads = spec.key_heads * (1 + draw.below(2));
  return {.spec = {}, .phases = {}, .recurrent = spec};
}

/// A layer over the state of one of these, which sees no more than it keeps.
Cell donor_reader(const std::vector<Cell>& cells, Draw& draw) {
  const int64_t donor = draw.below(std::ssize(cells));
  Cell cell = cells[static_cast<size_t>(donor)];
  cell.spec.donor = LayerIndex(donor);
  cell.spec.query_heads = cell.spec.kv_heads * (1 + draw.below(2));
  cell.spec.sink_logits.clear();
  if (cell.spec.visibility.window == 0 || cell.spec.visibility.window > 40) {
    cell.spec.visibility.window = 40;
  }
  return cell;
}

} // namespace

std::vector<Cell> cells_of(const Codec& codec, int64_t round) {
  Draw draw(
      std::hash<std::string>{}(codec.id()) + static_cast<uint64_t>(round));
  std::vector<Cell> cells;
  for (int64_t i = 0; i < kCells; ++i) {
    const int64_t role = draw.below(3); // both, keys, values
    const LayerPhase last{
        .keys = role == 2 ? draw.partner() : &codec,
        .values = role == 1 ? draw.partner() : &codec};
    Cell cell;
    // 5 and 6 have no common divisor: 30 cells in a row meet each pair once.
    const int64_t index = round * kCells + i;
    cell.phases = phases_of(index % 5, last, draw.below(4) == 0, draw);
    cell.spec.visibility = {
        .window = kWindows[index % 6], .sinks = draw.of(kSinks)};
    cell.spec.kv_heads = 1 + draw.below(2);
    cell.spec.query_heads = cell.spec.kv_heads * (1 + draw.below(3));
    cell.spec.key_dim = head_size(cell.phases, ChannelRole::kKeys, draw);
    cell.spec.value_dim = head_size(cell.phases, ChannelRole::kValues, draw);
    cell.spec.scale = 3.0f / std::sqrt(static_cast<float>(cell.spec.key_dim));
    cell.spec.softcap = draw.below(4) == 0 ? 5.0f : 0.0f;
    if (draw.below(4) == 0) {
      cell.spec.sink_logits.assign(
          static_cast<size_t>(cell.spec.query_heads), 0.5f);
    }
    cell.spec.visibility.spans = draw.below(6) != 0;
    cells.push_back(std::move(cell));
  }
  cells.push_back(latent_cell(codec, round, draw));
  cells.push_back(donor_reader(cells, draw));
  cells.push_back(recurrent_cell(draw));
  return cells;
}

// Where all are kept, rows go back to wherever the other layers let them.
int64_t keep_every_in(int64_t round) {
  constexpr int64_t kKeeps[] = {1, 1, 2, 1, 0};
  return kKeeps[round % 5];
}

StateOptions
options_of(const std::vector<Cell>& cells, int64_t round, int threads) {
  StateOptions options;
  options.precision.phases = cells.front().phases;
  options.recurrent_keep_every = keep_every_in(round);
  for (const Cell& cell : cells) {
    if (cell.recurrent) {
      options.layers.push_back(*cell.recurrent);
      continue;
    }
    if (!cell.spec.donor) {
      options.precision.layers[std::ssize(options.layers)] = cell.phases;
    }
    options.layers.push_back(cell.spec);
  }
  options.runtime = {std::make_shared<Executor>(threads), best_kernel_path()};
  return options;
}

} // namespace holdfast::conformance
