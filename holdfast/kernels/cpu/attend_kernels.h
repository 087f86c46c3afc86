// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the attention driver asks of an instruction set: a table of functions
// over one unit of work, the same for each path and equal in bits. A unit is up
// to kUnitRows query rows (a query row: one token's one query head) that share
// a row of the batch and a key-value head.
//
// Threads: any; a unit's buffers belong to one thread at a time.

#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast {
enum class KernelPath;
}

namespace holdfast::cpu {

/// A partial covers this many blocks, from an absolute multiple of it on;
/// partials are folded in order.
constexpr int64_t kSplitBlocks = 4;
constexpr int64_t kUnitRows = 128;
/// Rows that pass through the scratch of a split at a time: two tiles.
constexpr int64_t kGroupRows = 32;
/// Keys and values go in steps of this many tokens; a step that no row of a
/// group sees is left out.
constexpr int64_t kStepTokens = 32;
constexpr int64_t kSplitSteps = kSplitBlocks * 2;
/// Floats from one row's scores of a split to the next row's: no power of two,
/// so that rows do not meet in the cache.
constexpr int64_t kScoreRow = kSplitBlocks * 64 + 16;

/// sum_j exp(s_j - max) v_j over some keys, and its softmax terms. A row that
/// saw nothing has max = -infinity. Arrays are padded to whole tiles of 16
/// rows.
struct Partial {
  float* out = nullptr; // [rows, value_dim]
  float* max = nullptr; // [rows]
  float* sum = nullptr; // [rows]
};

/// How a channel's first plane is read. The dense forms are numbered as
/// DenseFormat is.
enum class PlaneForm { kF32, kF16, kBf16, kCodes };
constexpr int kDenseForms = 3;
constexpr int kPlaneForms = 4;

/// A channel of codes: element d of token t is
///   scale[d / group][t] * (x + shift) + bias[d / group][t],
/// x the number its code stands for in the tiles. Scales and biases are all f16
/// or all bf16; norms, which are scales without biases, are f32.
struct CodedPlanes {
  int bits = 0; // 2, 3, 4, 5, 6 or 8
  int64_t group = 0; // elements
  int64_t scales = 0; // offset of that plane from the codes, in bytes
  int64_t biases = 0; // likewise; 0: none
  PlaneForm scale_form = PlaneForm::kF32;
  /// [32] bf16: what code i % 2^bits stands for. Null for 6 and 8 bits, whose
  /// tiles hold the code itself times 2^-112.
  const uint16_t* levels = nullptr;
  float shift = 0.0f;
  float middle = 0.0f; // of the range of x
  bool wide() const {
    return bits > 5;
  }
};

/// The planes of one channel of one head.
struct ChannelView {
  PlaneForm form = PlaneForm::kBf16;
  int64_t bytes = 0;
  CodedPlanes codes;
};

struct ByteRange {
  const std::byte* start = nullptr;
  int64_t bytes = 0;
};
/// What a thread will read after what it reads now, fetched into the second
/// cache a few lines at a time (attend_fetch-inl.h).
struct FetchList {
  ByteRange ranges[2 * kSplitBlocks];
  int64_t count = 0;
  int64_t a_step = 0; // bytes, whole lines
  int64_t at = 0; // the range
  int64_t offset = 0; // in it
};

/// A block as one unit sees it.
struct BlockView {
  const std::byte* keys = nullptr; // first plane
  const std::byte* values = nullptr; // first plane
  const uint64_t* visible = nullptr; // [rows], padded with zeros; see
                                     // attend_visible.h
  int64_t written = 0; // slots that hold tokens: [0, written)
};

/// Per thread, each aligned to 64 bytes.
struct AttendScratch {
  float* scores = nullptr; // [kGroupRows][kScoreRow], a block after the other
  uint16_t* weights = nullptr; // [kSplitSteps][kGroupRows][32], bf16
  float* largest = nullptr; // [kGroupRows][16]
  uint16_t* values = nullptr; // [value_dim / 16][16][16][2]
  // Where keys or values are codes:
  uint16_t* ring = nullptr; // [2][4] tiles
  float* products = nullptr; // [kGroupRows][64], or of 16 rows four groups'
  float* second = nullptr; // [kGroupRows], see attend_coded_values-inl.h
  // Where units have more than 16 rows: a split, expanded.
  uint16_t* key_tiles = nullptr; // [kSplitBlocks][key_width / 32][4] tiles
  uint16_t* value_tiles = nullptr; // [kSplitBlocks][2][value_dim / 16] tiles
};

/// One unit over the blocks of one split.
struct SplitJob {
  int64_t rows = 0;
  int64_t key_width = 0; // elements of a packed query
  int64_t value_dim = 0;
  const ChannelView* keys = nullptr;
  const ChannelView* values = nullptr;
  const void* q = nullptr; // [rows padded to 16, key_width], packed
  const float* q_sums = nullptr; // [rows, key_width / group], of coded keys
  float scale = 1.0f; // of scores, before the cap
  float softcap = 0.0f;
  const BlockView* blocks = nullptr;
  int64_t block_count = 0;
  FetchList* fetch = nullptr; // stepped fetch_steps() times a block
  AttendScratch scratch;
  Partial result;
};

/// Steps of a fetch list in a block's channel of `width` elements: one for each
/// tile of the products, and one for each that is expanded from codes.
constexpr int64_t fetch_steps(const ChannelView& channel, int64_t width) {
  return width / 8 * (channel.form == PlaneForm::kCodes ? 2 : 1);
}

/// Tokens of one row that go to neighbouring slots of one plane.
struct AppendJob {
  const float* source = nullptr; // [count] vectors [dim], `stride` floats apart
  int64_t stride = 0;
  int64_t count = 0;
  int64_t dim = 0;
  int64_t slot = 0;
  std::byte* plane = nullptr;
};

/// Indices of the arrays are PlaneForms.
struct AttendKernels {
  /// q [dim] to the form that split() takes, padded with zeros to the key
  /// width.
  void (*pack_query[kDenseForms])(const float* q, int64_t dim, void* packed);
  /// Likewise for coded keys; sums: [width / group] of the packed elements.
  void (*pack_coded_query)(
      const float* q,
      int64_t dim,
      const CodedPlanes& codes,
      void* packed,
      float* sums);
  void (*split)(const SplitJob& job);
  void (*append_keys[kDenseForms])(const AppendJob& job);
  void (*append_values[kDenseForms])(const AppendJob& job);
  /// total = total folded with part, for each row that part saw keys for.
  void (*fold)(
      const Partial& total,
      const Partial& part,
      int64_t rows,
      int64_t value_dim);
  /// out = total / sum, one row; `sink` (or null) joins the sum.
  void (*finish)(
      const Partial& total,
      int64_t row,
      int64_t value_dim,
      const float* sink,
      float* out);
};

/// The table of a path.
const AttendKernels& attend_kernels(KernelPath path);
const AttendKernels& attend_kernels_plain();
const AttendKernels& attend_kernels_neon();
const AttendKernels& attend_kernels_avx2();
const AttendKernels& attend_kernels_avx512();
const AttendKernels& attend_kernels_amx();

} // namespace holdfast::cpu
