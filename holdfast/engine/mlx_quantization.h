// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// MLX's affine quantisation, as a checkpoint's config.json tells of it:
//
//   "quantization": {"group_size": 64, "bits": 4,
//                    "model.layers.0.mlp.down_proj": {"group_size": 32, "bits":
//                    8}, "lm_head": false}
//
// A module's weight [N, K] is codes in U32 words, a row's K codes one after the
// other, lowest bit first; scales and biases [N, K / group] are beside it, and
// w = scale * code + bias. In mode "mxfp4" scales are exponents, U8, and there
// are no biases (mxfp4.h). Values; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/formats/safetensors.h"
#include "holdfast/kernels/cpu/weight.h"
#include "holdfast/models/settings.h"

namespace holdfast {

struct MlxQuantized {
  enum class Mode { kAffine, kMxfp4 };

  int bits = 0; // 2, 3, 4, 5, 6 or 8
  int group = 0; // 32, 64 or 128
  Mode mode = Mode::kAffine; // kMxfp4: 4 bits in groups of 32
};

/// A quantised matrix [n, k] where it lies.
struct MlxModule {
  MlxQuantized kind;
  TensorType type = TensorType::kBF16; // of scales and biases, if affine
  const std::byte* codes = nullptr;
  const std::byte* scales = nullptr;
  const std::byte* biases = nullptr;
  int64_t n = 0;
  int64_t k = 0;

  int64_t scale_bytes() const; // of one

  /// `count` rows from row `first` on.
  MlxModule rows(int64_t first, int64_t count) const;
  /// What read_codes() fills.
  cpu::WeightFormat format() const;
  void read_codes(int64_t row, const cpu::CodeRow& out) const;
  /// The weights in f32.
  void read_values(int64_t row, float* values) const;
};

/// Reads a row's k codes, k a multiple of 32, out of k bits / 8 bytes.
void unpack_mlx_codes(
    int bits,
    const std::byte* words,
    int64_t k,
    uint8_t* codes);
/// The inverse. codes: each below 2^bits.
void pack_mlx_codes(
    int bits,
    const uint8_t* codes,
    int64_t k,
    std::byte* words);

/// "layers.0.mlp.up_proj" of "language_model.model.layers.0.mlp.up_proj": names
/// without the prefixes that differ between checkpoints of a family.
std::string canonical_name(std::string_view name);

class MlxQuantization {
 public:
  /// Throws Error naming the setting: kCorrupt, kUnsupported for other modes
  /// and for checkpoints that others quantised.
  explicit MlxQuantization(const Settings& settings);

  /// How the module is quantised if it is; nothing where the settings do not
  /// say, or say that it is not.
  std::optional<MlxQuantized> of(std::string_view module) const;

 private:
  std::optional<MlxQuantized> usual_;
  /// By canonical name; nothing: left dense.
  std::map<std::string, std::optional<MlxQuantized>, std::less<>> modules_;
};

} // namespace holdfast
