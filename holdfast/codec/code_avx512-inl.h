// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codes into tiles: keys of 16 tokens as whole lines, of fewer a token at a
// time; values a token at a time. Include it in vector_loops_avx512.cpp alone.

#pragma once

#include "holdfast/codec/code_pieces-inl.h"
#include "holdfast/codec/lanes_avx512-inl.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {
namespace {

/// A token's 32 codes of a tile of keys, a row's two in a lane.
inline __m512i load_pairs(const uint8_t* codes) {
  return _mm512_cvtepu8_epi16(
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes)));
}
/// The lowest `count` bits of both numbers of a pair.
constexpr uint32_t pair_mask(int count) {
  return ((1u << count) - 1) * 0x10001u;
}

/// 16 tokens, from codes `stride` apart.
template <class R>
void put_key_tile(const uint8_t* codes, int64_t stride, uint16_t* tile) {
  __m512i rows[16];
#pragma GCC unroll 16
  for (int t = 0; t < 16; ++t) {
    rows[t] = load_pairs(codes + t * stride);
  }
  transpose(rows);
#pragma GCC unroll 8
  for (int line = 0; line < R::bits; ++line) {
    __m512i words = rows[line * R::whole];
#pragma GCC unroll 8
    for (int i = 1; i < R::whole; ++i) {
      words = _mm512_or_si512(
          words, _mm512_slli_epi32(rows[line * R::whole + i], i * R::bits));
    }
#pragma GCC unroll 2
    for (int i = 0; i < R::pieces; ++i) {
      const auto piece = R::piece(line, i);
      const __m512i part = _mm512_and_si512(
          _mm512_srli_epi32(rows[piece.row], piece.from),
          _mm512_set1_epi32(int(pair_mask(piece.count))));
      words = _mm512_or_si512(words, _mm512_slli_epi32(part, piece.to));
    }
    _mm512_storeu_si512(tile + line * kCodeTileWords, words);
  }
}

/// For each line, which row, and how its pair is moved.
template <class R>
struct LineTables {
  uint32_t row[R::whole][16];
  uint32_t piece_row[2][16];
  uint32_t piece_from[2][16];
  uint32_t piece_mask[2][16];
  uint32_t piece_to[2][16];
};
template <class R>
constexpr LineTables<R> line_tables() {
  LineTables<R> tables{};
  for (int line = 0; line < R::bits; ++line) {
    for (int i = 0; i < R::whole; ++i) {
      tables.row[i][line] = static_cast<uint32_t>(line * R::whole + i);
    }
    for (int i = 0; i < R::pieces; ++i) {
      const auto piece = R::piece(line, i);
      tables.piece_row[i][line] = static_cast<uint32_t>(piece.row);
      tables.piece_from[i][line] = static_cast<uint32_t>(piece.from);
      tables.piece_mask[i][line] = pair_mask(piece.count);
      tables.piece_to[i][line] = static_cast<uint32_t>(piece.to);
    }
  }
  return tables;
}

/// One token; words: its two of the first line.
template <class R>
void put_key(const uint8_t* codes, uint16_t* words) {
  static constexpr LineTables<R> tables = line_tables<R>();
  const __m512i pairs = load_pairs(codes);
  __m512i lines = _mm512_permutexvar_epi32(load_words(tables.row[0]), pairs);
#pragma GCC unroll 8
  for (int i = 1; i < R::whole; ++i) {
    const __m512i row =
        _mm512_permutexvar_epi32(load_words(tables.row[i]), pairs);
    lines = _mm512_or_si512(lines, _mm512_slli_epi32(row, i * R::bits));
  }
#pragma GCC unroll 2
  for (int i = 0; i < R::pieces; ++i) {
    __m512i part =
        _mm512_permutexvar_epi32(load_words(tables.piece_row[i]), pairs);
    part = _mm512_srlv_epi32(part, load_words(tables.piece_from[i]));
    part = _mm512_and_si512(part, load_words(tables.piece_mask[i]));
    part = _mm512_sllv_epi32(part, load_words(tables.piece_to[i]));
    lines = _mm512_or_si512(lines, part);
  }
  uint32_t each[16];
  _mm512_storeu_si512(each, lines);
#pragma GCC unroll 8
  for (int line = 0; line < R::bits; ++line) {
    __builtin_memcpy(words + line * kCodeTileWords, &each[line], 4);
  }
}

template <class R>
void put_keys(const SlotRun& run, const uint8_t* codes, uint16_t* plane) {
  const int64_t width = code_key_width(run.dim);
  for (int64_t i = 0; i < run.count;) {
    const int64_t t = run.slot + i;
    const bool group = t % 16 == 0 && run.count - i >= 16;
    for (int64_t d = 0; d < width; d += 32) {
      const CodePlace at = code_key_place(t, d);
      const uint8_t* from = codes + i * width + d;
      uint16_t* tile = plane + at.tile * R::tile_words;
      group ? put_key_tile<R>(from, width, tile)
            : put_key<R>(from, tile + at.word);
    }
    i += group ? 16 : 1;
  }
}

/// One token in tiles `R::tile_words` apart. Words of a token pair are a lane.
template <class R>
void put_value(int64_t t, int64_t dim, const uint8_t* codes, uint16_t* tile) {
  const auto row = static_cast<int>(t % 32 / 2);
  const auto half = static_cast<int>(t % 2 * 16);
  const bool whole = row < R::first_split;
  const int parts = whole ? 1 : R::bits;
  const uint32_t mask = whole ? (1u << R::bits) - 1 : 1u;
  for (int i = 0; i < parts; ++i) {
    const CodeBit at = code_bit(R::bits, row, i);
    const auto shift = static_cast<unsigned>(at.shift + half);
    const __m512i place = _mm512_set1_epi32(int(mask << shift));
    uint16_t* words = tile + at.line * kCodeTileWords;
    const auto right = static_cast<unsigned>(i);
    for (int64_t d = 0; d < dim; d += 16) {
      const __m512i moved = _mm512_slli_epi32(
          _mm512_srli_epi32(load_codes(codes + d), right), shift);
      // The place's bits from the codes, the others as they were.
      const __m512i line =
          _mm512_ternarylogic_epi32(moved, load_words(words), place, 0xe4);
      _mm512_storeu_si512(words, line);
      words += R::tile_words;
    }
  }
}

template <class R>
void put_values(const SlotRun& run, const uint8_t* codes, uint16_t* plane) {
  for (int64_t i = 0; i < run.count; ++i) {
    const int64_t t = run.slot + i;
    const int64_t tile = code_value_place(run.dim, t, 0).tile;
    put_value<R>(t, run.dim, codes + i * run.dim, plane + tile * R::tile_words);
  }
}

inline void put_key_codes(
    int bits,
    const SlotRun& run,
    const uint8_t* codes,
    uint16_t* plane) {
  with_bits(
      bits, [&](auto rows) { put_keys<decltype(rows)>(run, codes, plane); });
}

inline void put_value_codes(
    int bits,
    const SlotRun& run,
    const uint8_t* codes,
    uint16_t* plane) {
  with_bits(
      bits, [&](auto rows) { put_values<decltype(rows)>(run, codes, plane); });
}

} // namespace
} // namespace holdfast
