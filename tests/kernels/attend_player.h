// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Plays rows through append_and_attend and through attention written out in
// double. A token's queries, keys and values follow from its row's seed and its
// position, so any chunking, batch or path plays the same sequence. Fresh
// blocks are filled with NaN. One thread.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/attend.h"
#include "tests/kernels/attend_setup.h"
#include "tests/rounded_query.h"

namespace holdfast::cpu {

struct FreeImage {
  void operator()(std::byte* image) const {
    ::operator delete[](image, std::align_val_t{64});
  }
};
/// As aligned as the block pool's; forks share them.
using Image = std::shared_ptr<std::byte[]>;

/// One row: its blocks and every output it has had, by position.
struct PlayedRow {
  uint64_t seed = 0;
  std::map<int64_t, uint64_t> forks = {}; // seeds from positions on
  int64_t written = 0;
  std::vector<BidirectionalSpan> spans; // of all its positions
  std::vector<Image> images;

  uint64_t seed_at(int64_t position) const {
    const auto after = forks.upper_bound(position);
    return after == forks.begin() ? seed : std::prev(after)->second;
  }
  std::map<int64_t, std::vector<float>> outputs; // [query_heads * value_dim]
};

class Player {
 public:
  explicit Player(const AttendSetup& setup)
      : setup_(setup), layout_(planes(setup)), executor_(setup.threads) {}

  PlayedRow& add_row(uint64_t seed) {
    rows_.push_back(std::make_unique<PlayedRow>());
    rows_.back()->seed = seed;
    return *rows_.back();
  }
  /// A row that goes on from another under a seed of its own, and shares its
  /// full blocks, or copies of all.
  enum class Blocks { kShared, kCopied };
  void fork_row(int64_t index, uint64_t seed, Blocks blocks) {
    const PlayedRow& from = *rows_[index];
    auto row = std::make_unique<PlayedRow>();
    row->seed = from.seed;
    row->forks = from.forks;
    row->forks[from.written] = seed;
    row->written = from.written;
    for (const Image& image : from.images) {
      const auto b = static_cast<int64_t>(row->images.size());
      const bool full = (b + 1) * kBlockTokens <= from.written;
      row->images.push_back(
          full && blocks == Blocks::kShared ? image : copy_of(image));
    }
    rows_.push_back(std::move(row));
  }
  PlayedRow& row(int64_t index) {
    return *rows_[index];
  }
  AttendSetup& setup() {
    return setup_;
  }
  const ImageLayout& layout() const {
    return layout_;
  }

  /// Appends `count` tokens to the row at `index`, for each part of one step.
  struct Part {
    int64_t row;
    int64_t count;
  };
  void step(const std::vector<Part>& parts) {
    std::vector<RowSpan> spans;
    std::vector<RowBlocks> blocks;
    std::vector<float> q, k, v;
    int64_t tokens = 0;
    for (const Part& part : parts) {
      PlayedRow& row = *rows_[part.row];
      grow(row, row.written + part.count);
      const Position from(row.written);
      spans.push_back(
          {tokens,
           part.count,
           row.written,
           spans_from(row.spans, from, from + Position(part.count))});
      blocks.emplace_back();
      for (const auto& image : row.images) {
        blocks.back().images.push_back(image.get());
      }
      for (int64_t i = 0; i < part.count; ++i) {
        const int64_t position = row.written + i;
        add(q, query(row, position));
        add(k, key(row, position));
        add(v, value(row, position));
      }
      tokens += part.count;
    }
    const int64_t width = setup_.spec.query_heads * setup_.spec.value_dim;
    std::vector<float> out(tokens * width, NAN);
    AttendJob job{
        .spec = &setup_.spec,
        .keys = setup_.keys,
        .values = setup_.values,
        .layout = &layout_,
        .layer = 1,
        .rows = spans,
        .blocks = blocks,
        .q = q.data(),
        .k = k.data(),
        .v = v.data(),
        .out = out.data()};
    AttendPlan plan;
    if (setup_.kept_floats != kKeptFloats) {
      AttendCut cut = attend_cut(job, setup_.threads);
      cut.kept_floats = setup_.kept_floats;
      plan = plan_attend(job, cut);
      job.plan = &plan;
    }
    append_and_attend(job, executor_, setup_.path);
    for (size_t p = 0; p < parts.size(); ++p) {
      PlayedRow& row = *rows_[parts[p].row];
      for (int64_t i = 0; i < parts[p].count; ++i) {
        const auto from = out.begin() + (spans[p].first_token + i) * width;
        row.outputs[row.written + i].assign(from, from + width);
      }
      row.written += parts[p].count;
    }
  }
  void play(int64_t row, const std::vector<int64_t>& chunks) {
    for (const int64_t count : chunks) {
      step({{row, count}});
    }
  }

  /// Writes positions [written, end) through the codecs, without queries.
  void fill(int64_t index, int64_t end) {
    PlayedRow& row = *rows_[index];
    grow(row, end);
    for (; row.written < end; ++row.written) {
      const std::vector<float> k = key(row, row.written);
      const std::vector<float> v = value(row, row.written);
      for (int64_t head = 0; head < setup_.spec.kv_heads; ++head) {
        const auto planes = planes_at(row, row.written, head);
        const auto split = planes.begin() + key_planes();
        setup_.keys->encode(
            ChannelRole::kKeys,
            head_of(k, head, setup_.spec.key_dim),
            row.written % kBlockTokens,
            {planes.begin(), split});
        setup_.values->encode(
            ChannelRole::kValues,
            head_of(v, head, setup_.spec.value_dim),
            row.written % kBlockTokens,
            {split, planes.end()});
      }
    }
  }
  void roll_back(int64_t index, int64_t to) {
    rows_[index]->written = to;
  }

  std::byte*
  plane(const PlayedRow& row, int64_t position, int64_t head, int64_t plane)
      const {
    return row.images[position / kBlockTokens].get() +
        layout_.offset(1, head, plane).get();
  }

  std::vector<float> query(const PlayedRow& row, int64_t position) const {
    return vectors(
        row.seed_at(position) * 4,
        position,
        setup_.spec.query_heads * setup_.spec.key_dim);
  }
  std::vector<float> key(const PlayedRow& row, int64_t position) const {
    return vectors(
        row.seed_at(position) * 4 + 1,
        position,
        setup_.spec.kv_heads * setup_.spec.key_dim);
  }
  std::vector<float> value(const PlayedRow& row, int64_t position) const {
    return vectors(
        row.seed_at(position) * 4 + 2,
        position,
        setup_.spec.kv_heads * setup_.spec.value_dim);
  }

  /// The outputs of the query at `position`, in double, over what the codecs
  /// stored.
  std::vector<double> reference(int64_t index, int64_t position) const {
    const PlayedRow& row = *rows_[index];
    const AttentionSpec& spec = setup_.spec;
    const Visibility& sees = spec.visibility;
    int64_t end = position + 1;
    for (const BidirectionalSpan& span : row.spans) {
      if (sees.spans && span.begin.get() <= position &&
          position < span.end.get()) {
        end = span.end.get();
      }
    }
    std::vector<float> q = query(row, position);
    round_query(q);
    const int64_t group = spec.query_heads / spec.kv_heads;
    std::vector<double> out(spec.query_heads * spec.value_dim, 0.0);
    std::vector<double> sums(spec.query_heads, 0.0);
    std::vector<float> k(spec.key_dim), v(spec.value_dim);
    for (int64_t head = 0; head < spec.kv_heads; ++head) {
      for (int64_t j = 0; j < end; ++j) {
        const bool seen = sees.window == 0 ||
            std::abs(j - position) < sees.window || j < sees.sinks;
        if (!seen) {
          continue;
        }
        read(row, j, head, k, v);
        for (int64_t h = head * group; h < (head + 1) * group; ++h) {
          const double weight = std::exp(score(&q[h * spec.key_dim], k));
          sums[h] += weight;
          for (int64_t d = 0; d < spec.value_dim; ++d) {
            out[h * spec.value_dim + d] += weight * v[d];
          }
        }
      }
    }
    for (int64_t h = 0; h < spec.query_heads; ++h) {
      if (!spec.sink_logits.empty()) {
        sums[h] += std::exp(static_cast<double>(spec.sink_logits[h]));
      }
      for (int64_t d = 0; d < spec.value_dim; ++d) {
        out[h * spec.value_dim + d] /= sums[h];
      }
    }
    return out;
  }

  /// The largest difference between the outputs at `position` and those in
  /// double; infinity where one is not finite. Values lie in [-1, 1].
  double error_at(int64_t index, int64_t position) const {
    const std::vector<double> expected = reference(index, position);
    const std::vector<float>& got = rows_[index]->outputs.at(position);
    double largest = 0.0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const double error = std::fabs(expected[i] - got[i]);
      largest = error <= largest ? largest
          : std::isfinite(error) ? error
                                 : INFINITY;
    }
    return largest;
  }
  /// What error_at may be: f32 rounding, and bf16 weights where values are
  /// bf16 or codes (relative 2^-9 each, so 2^-9 of the largest value, which is
  /// up to 2 where codes stand for it). The f32 products of coded keys add up
  /// numbers larger than the result.
  double tolerance() const {
    const CodecKind keys = setup_.keys->form().kind;
    const CodecForm values = setup_.values->form();
    const bool exact =
        values.kind == CodecKind::kDense && values.format != DenseFormat::kBf16;
    return values.kind != CodecKind::kDense ? 0x1p-8
        : !exact                            ? 0x1p-9
        : keys != CodecKind::kDense         ? 4e-5
                                            : 4e-6;
  }

 private:
  static std::vector<LayerPlanes> planes(const AttendSetup& setup) {
    LayerPlanes layer{.heads = setup.spec.kv_heads, .planes = {}};
    layer.planes = setup.keys->planes(ChannelRole::kKeys, setup.spec.key_dim);
    const auto values =
        setup.values->planes(ChannelRole::kValues, setup.spec.value_dim);
    layer.planes.insert(layer.planes.end(), values.begin(), values.end());
    return {layer, layer, layer}; // the middle one is played
  }
  int64_t key_planes() const {
    return static_cast<int64_t>(
        setup_.keys->planes(ChannelRole::kKeys, setup_.spec.key_dim).size());
  }
  std::vector<std::byte*>
  planes_at(const PlayedRow& row, int64_t position, int64_t head) const {
    std::vector<std::byte*> found(planes(setup_)[0].planes.size());
    for (size_t i = 0; i < found.size(); ++i) {
      found[i] = plane(row, position, head, static_cast<int64_t>(i));
    }
    return found;
  }
  void round_query(std::vector<float>& q) const {
    holdfast::test::round_query(
        setup_.keys->form(), static_cast<size_t>(setup_.spec.key_dim), q);
  }
  static void add(std::vector<float>& to, const std::vector<float>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }
  static std::span<const float>
  head_of(const std::vector<float>& all, int64_t head, int64_t dim) {
    return {all.data() + head * dim, static_cast<size_t>(dim)};
  }
  std::vector<float>
  vectors(uint64_t seed, int64_t position, int64_t count) const {
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i) {
      values[i] = random_value(seed, position, i);
    }
    return values;
  }
  void grow(PlayedRow& row, int64_t end) {
    const size_t size = layout_.bytes().get();
    while (static_cast<int64_t>(row.images.size()) * kBlockTokens < end) {
      row.images.push_back(make_image(size));
      std::memset(row.images.back().get(), 0xff, size);
    }
  }
  static Image make_image(size_t size) {
    return {new (std::align_val_t{64}) std::byte[size], FreeImage{}};
  }
  Image copy_of(const Image& image) const {
    const size_t size = layout_.bytes().get();
    Image copy = make_image(size);
    std::memcpy(copy.get(), image.get(), size);
    return copy;
  }
  void read(
      const PlayedRow& row,
      int64_t position,
      int64_t head,
      std::span<float> k,
      std::span<float> v) const {
    const auto planes = planes_at(row, position, head);
    const std::vector<const std::byte*> all(planes.begin(), planes.end());
    const auto split = all.begin() + key_planes();
    const int64_t at = position % kBlockTokens;
    setup_.keys->decode(ChannelRole::kKeys, {all.begin(), split}, at, k);
    setup_.values->decode(ChannelRole::kValues, {split, all.end()}, at, v);
  }
  double score(const float* q, const std::vector<float>& k) const {
    double sum = 0.0;
    for (size_t d = 0; d < k.size(); ++d) {
      sum += static_cast<double>(q[d]) * k[d];
    }
    sum *= setup_.spec.scale;
    const double cap = setup_.spec.softcap;
    return cap > 0.0 ? cap * std::tanh(sum / cap) : sum;
  }

  AttendSetup setup_;
  ImageLayout layout_;
  Executor executor_;
  std::vector<std::unique_ptr<PlayedRow>> rows_;
};

/// Equal bits of all outputs of positions played in both (one at least), or a
/// sentence that names the first difference.
inline ::testing::AssertionResult
same_bits(const PlayedRow& a, const PlayedRow& b) {
  int compared = 0;
  for (const auto& [position, out] : a.outputs) {
    const auto other = b.outputs.find(position);
    if (other == b.outputs.end()) {
      continue; // played in one of them alone
    }
    ++compared;
    if (std::memcmp(
            out.data(), other->second.data(), out.size() * sizeof(float)) !=
        0) {
      return ::testing::AssertionFailure()
          << "outputs differ at position " << position;
    }
  }
  if (compared == 0) {
    return ::testing::AssertionFailure() << "no position was played in both";
  }
  return ::testing::AssertionSuccess();
}

} // namespace holdfast::cpu
