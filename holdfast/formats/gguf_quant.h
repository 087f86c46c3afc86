// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tensor types of GGUF that holdfast reads, and how each maps onto codes:
// w = scale * code + offset, per group along a row. The codes are exactly the
// file's; scales and offsets are exact products of the file's numbers in f32.
// Layouts: docs/gguf.md. Pure functions; any thread.

#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast {

/// The values are the format's type ids.
enum class GgufType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kBF16 = 30,
  kMXFP4 = 39,
};

struct CodeFormat {
  int bits = 0; // 0: the type holds plain floats, no codes
  int group = 0; // weights along a row that share a scale
  /// false: each group's offset is -scale * 2^(bits - 1), and none is written.
  bool has_offsets = false;
};

struct GgufTypeInfo {
  GgufType type;
  const char* name; // as in the format: "Q4_K"
  int block; // weights of one block; a row is a whole number of them
  int block_bytes;
  CodeFormat codes;
};

/// What is known of a type id; nullptr for one that holdfast does not read.
const GgufTypeInfo* find_gguf_type(uint32_t id);
const GgufTypeInfo& gguf_type_info(GgufType type);
/// The format's name of any type id ("Q2_K"), read by us or not; nullptr for an
/// id that the format does not define.
const char* gguf_type_name(uint32_t id);

/// Bytes of a row of k weights; throws kInvalidArgument unless k >= 0 is a
/// multiple of the block.
int64_t gguf_row_bytes(GgufType type, int64_t k);

/// Row `row` of k weights -> codes [k], scales [k / group], and, only where
/// has_offsets, offsets [k / group] (else may be nullptr). A signed code of the
/// file is stored plus 2^(bits - 1); a negative scale stays negative. Throws
/// kInvalidArgument on a type without codes, a k that is no multiple of its
/// block, or no place for offsets that the type has. The row needs no
/// alignment.
void unpack_row(
    GgufType type,
    const std::byte* row,
    int64_t k,
    uint8_t* codes,
    float* scales,
    float* offsets);

/// Row `row` of k weights -> values [k] in f32, as the format defines them: one
/// rounding at most per weight. Throws as unpack_row; takes every type.
void read_values(GgufType type, const std::byte* row, int64_t k, float* values);

} // namespace holdfast
