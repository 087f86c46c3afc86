// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A weight matrix in the order in which the linear kernels stream it.
//
// Three formats: f32; bf16; and codes of 2 to 8 bits in groups along K, where
// w = scale * code + offset. Codes keep the file's exact values; scales and
// offsets round to fp16, relative to a power of two per 64 rows (panel).
// docs/weights.md gives the layout. Immutable once packed; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "holdfast/base/strong.h"
#include "holdfast/env/executor.h"
#include "holdfast/kernels/cpu/weight_layout.h"

namespace holdfast::cpu {

struct WeightFormat {
  enum class Kind { kF32, kBf16, kCodes };
  Kind kind = Kind::kF32;
  int bits = 0; // kCodes: 2 to 8
  int group = 0; // kCodes: 16, 32, 64 or 128 weights along K
  /// kCodes: false where each group's offset is -scale * 2^(bits - 1), so that
  /// none is stored.
  bool offsets = false;
  /// Products in whole numbers (linear_exact_kernels.h): right to 2^-14 of each
  /// 32 activations' largest, fast for few rows, slower for many. An output
  /// layer's choice.
  bool exact = false;
};

/// Fills one row n of a source matrix [N, K]. kCodes: codes [K], scales and
/// offsets [K / group] (offsets only where the format stores them).
struct CodeRow {
  uint8_t* codes;
  float* scales;
  float* offsets;
};
using ReadCodes = std::function<void(int64_t row, const CodeRow& out)>;
/// kF32 and kBf16: values [K].
using ReadValues = std::function<void(int64_t row, float* values)>;
/// kBf16, as bits [K].
using ReadHalves = std::function<void(int64_t row, uint16_t* values)>;

class Weight {
 public:
  /// Packs rows 0..n-1, read in any order by the executor's workers at once.
  /// Throws kInvalidArgument on n, k < 1, k no multiple of the group, or a
  /// format or a scale out of range (not finite, or 2^60 and more).
  static Weight pack_codes(
      const WeightFormat& format,
      int64_t n,
      int64_t k,
      const ReadCodes& read,
      Executor& executor);
  static Weight pack_values(
      WeightFormat::Kind kind,
      int64_t n,
      int64_t k,
      const ReadValues& read,
      Executor& executor);

  /// kBf16, of bits that are kept as they are.
  static Weight
  pack_halves(int64_t n, int64_t k, const ReadHalves& read, Executor& executor);

  const WeightFormat& format() const {
    return format_;
  }
  int64_t n() const {
    return n_;
  }
  int64_t k() const {
    return k_;
  }
  /// What it occupies, padding included.
  Bytes bytes() const {
    return Bytes(layout_.bytes());
  }
  /// The packed stream; the layout is docs/weights.md.
  const std::byte* data() const {
    return data_.get();
  }
  const WeightLayout& layout() const {
    return layout_;
  }

  /// The same weight, its bytes shared, for exact products; itself where the
  /// format has none: they need 8 bits in groups of 32 and more.
  Weight exact() const;

  /// Row n as values, scale * code + offset in f32: an embedding lookup.
  void read_row(int64_t row, float* values) const;

 private:
  Weight(const WeightFormat& format, int64_t n, int64_t k);

  WeightFormat format_;
  int64_t n_ = 0;
  int64_t k_ = 0;
  WeightLayout layout_;
  std::shared_ptr<std::byte> data_;
};

} // namespace holdfast::cpu
