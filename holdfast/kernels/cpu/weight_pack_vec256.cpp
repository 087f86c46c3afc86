// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/weight_pack.h"

#include "holdfast/kernels/cpu/expand-inl.h"
#include "holdfast/kernels/cpu/vec256-inl.h"
#include "holdfast/kernels/cpu/weight_pack_sort-inl.h"

namespace holdfast::cpu {

namespace {

using Words = Vec256<uint16_t>;

/// A row of 32 lanes of 16 bits.
struct Row {
  Words half[2];
};

/// rows[p], lane 2c + j: code of column c, k 2p + j.
void load_rows(const uint8_t* codes, int64_t stride, int bits, Row* rows) {
  Words r[16];
  for (int c = 0; c < 16; ++c) {
    r[c] = load(reinterpret_cast<const uint16_t*>(codes + c * stride));
  }
  sort_elements(
      r,
      [](const Words& a, const Words& b) { return interleave_lower(a, b); },
      [](const Words& a, const Words& b) { return interleave_upper(a, b); });
  const Words mask = all(static_cast<uint16_t>((1 << bits) - 1));
  for (int e = 0; e < 8; ++e) {
    for (int h = 0; h < 2; ++h) {
      const auto both = cast<uint8_t>(r[2 * e + h]);
      rows[e].half[h] = widened_half<0>(both) & mask;
      rows[e + 8].half[h] = widened_half<1>(both) & mask;
    }
  }
}

/// Word kWord of half a tile.
template <int kBits, int kWord>
Words pack_word(const Row* rows, int h) {
  using Codes = TileCodes<kBits>;
  Words word = all<uint16_t>(0);
  unrolled<Codes::kPerWord>([&]<int kPlace>() {
    word = word |
        shift_left<kPlace * kBits>(
               rows[kWord * Codes::kPerWord + kPlace].half[h]);
  });
  unrolled<Codes::kSpareBits>([&]<int i>() {
    constexpr int kAt = kWord * Codes::kSpareBits + i;
    const Words& code = rows[Codes::kDirectRows + kAt / kBits].half[h];
    const Words bit = shift_right<kAt % kBits>(code) & all<uint16_t>(1);
    word = word | shift_left<Codes::kDirectRows + i>(bit);
  });
  return word;
}

template <int kBits>
void pack_words(const Row* rows, uint8_t* tile) {
  unrolled<kBits>([&]<int kWord>() {
    for (int h = 0; h < 2; ++h) {
      store(
          cast<uint8_t>(pack_word<kBits, kWord>(rows, h)),
          tile + 64 * kWord + 32 * h);
    }
  });
}

/// Eight columns of eight pairs of k: out[p] is pair p of all columns.
void transpose_pairs(const uint16_t* values, int64_t stride, uint16_t* tile) {
  Vec256<uint32_t> r[8], t[8];
  for (int c = 0; c < 8; ++c) {
    r[c] = cast<uint32_t>(load(values + c * stride));
  }
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = interleave_lower(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = interleave_upper(r[2 * i], r[2 * i + 1]);
  }
  // r[4i + p]: pair p, and p + 4, of columns 4i..4i + 3.
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const auto a = cast<uint64_t>(t[4 * i + j]);
      const auto b = cast<uint64_t>(t[4 * i + 2 + j]);
      r[4 * i + 2 * j] = cast<uint32_t>(interleave_lower(a, b));
      r[4 * i + 2 * j + 1] = cast<uint32_t>(interleave_upper(a, b));
    }
  }
  for (int p = 0; p < 4; ++p) {
    for (int i = 0; i < 2; ++i) {
      const auto four = cast<uint16_t>(r[4 * i + p]);
      store_half<0>(four, tile + 32 * p + 8 * i);
      store_half<1>(four, tile + 32 * (p + 4) + 8 * i);
    }
  }
}

} // namespace

void pack_code_tile_vec256(
    const uint8_t* codes,
    int64_t stride,
    int bits,
    uint8_t* tile) {
  Row rows[16];
  load_rows(codes, stride, bits, rows);
  pack_with_bits(bits, [&](auto n) { pack_words<n>(rows, tile); });
}

void pack_bf16_tile_vec256(
    const uint16_t* values,
    int64_t stride,
    uint16_t* tile) {
  for (int columns = 0; columns < 2; ++columns) {
    for (int pairs = 0; pairs < 2; ++pairs) {
      transpose_pairs(
          values + 8 * columns * stride + 16 * pairs,
          stride,
          tile + 32 * 8 * pairs + 16 * columns);
    }
  }
}

} // namespace holdfast::cpu
