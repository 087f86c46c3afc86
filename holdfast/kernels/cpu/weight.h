// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A weight matrix in the order in which the linear kernels stream it.
//
// Three formats: f32; bf16; and codes of 2 to 8 bits in groups along K, where
// w = scale * code + offset. Codes keep the file's exact values.
// docs/weights.md gives the layout. Immutable once packed; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "holdfast/base/strong.h"
#include "holdfast/env/executor.h"

namespace holdfast::cpu {

struct WeightFormat {
  enum class Kind { kF32, kBf16, kCodes };
  Kind kind = Kind::kF32;
  int bits = 0; // kCodes: 2 to 8
  int group = 0; // kCodes: 16, 32, 64 or 128 weights along K
  /// kCodes: false where each group's offset is -scale * 2^(bits - 1), so that
  /// none is stored.
  bool offsets = false;
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

class Weight {
 public:
  /// Packs rows 0..n-1, read in any order by the executor's workers at once.
  /// Throws kInvalidArgument on n, k < 1, k no multiple of the group, or a
  /// format out of range.
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
    return bytes_;
  }
  /// The packed stream; the layout is docs/weights.md.
  const std::byte* data() const {
    return data_.get();
  }
  /// kCodes: scales and offsets are stored times 2^-exponent.
  int exponent() const {
    return exponent_;
  }

  /// Row n as values, scale * code + offset in f32: an embedding lookup.
  void read_row(int64_t row, float* values) const;

 private:
  Weight() = default;

  WeightFormat format_;
  int64_t n_ = 0;
  int64_t k_ = 0;
  int exponent_ = 0;
  Bytes bytes_;
  std::unique_ptr<std::byte[], void (*)(std::byte*)> data_{nullptr, nullptr};
};

} // namespace holdfast::cpu
