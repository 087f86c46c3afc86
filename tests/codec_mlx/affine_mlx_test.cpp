// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The affine codecs beside MLX's own quantize: codes, scales and biases.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "mlx/ops.h"
#include "mlx/transforms.h"

#include "holdfast/base/bits.h"
#include "holdfast/codec/affine.h"
#include "holdfast/codec/code_plane.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;

constexpr int64_t kDim = 256;
constexpr int64_t kVectors = kBlockTokens;

/// What kind of numbers fills a block of vectors.
enum class Fill {
  kNormal,
  kPositive,
  kNegative,
  kFarFromZero,
  kTiny,
  kNearTheFloor,
  kSubnormal,
  kHuge,
  kOverflowingRange,
  kConstants,
  kHugeConstants,
  kZeros,
  kSignedZeros,
  kWidelySpread,
  kIntegers,
  kOneOutlier,
};
constexpr int kFills = 16;

float element(Fill fill, int64_t d, float constant, std::mt19937& random) {
  std::normal_distribution<float> normal;
  const float x = normal(random);
  switch (fill) {
    case Fill::kNormal:
      return x;
    case Fill::kPositive:
      return std::abs(x);
    case Fill::kNegative:
      return -std::abs(x);
    case Fill::kFarFromZero:
      return 100.0f + x;
    case Fill::kTiny:
      return x * 1e-9f;
    case Fill::kNearTheFloor:
      return x * 1e-7f;
    case Fill::kSubnormal:
      return x * 1e-40f;
    case Fill::kHuge:
      return x * 1e30f;
    case Fill::kOverflowingRange:
      return std::clamp(x * 2e38f, -3.3e38f, 3.3e38f);
    case Fill::kConstants:
      return constant;
    case Fill::kHugeConstants:
      return constant * 1e31f;
    case Fill::kZeros:
      return 0.0f;
    case Fill::kSignedZeros:
      return x > 0.5f ? x : -0.0f;
    case Fill::kWidelySpread:
      return std::exp(10.0f * x);
    case Fill::kIntegers:
      return std::rint(4.0f * x);
    case Fill::kOneOutlier:
      return d % 32 == 7 ? 1000.0f * constant : x;
  }
  return x;
}

/// [kVectors, kDim]
std::vector<float> vectors(Fill fill, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x;
  for (int64_t t = 0; t < kVectors; ++t) {
    const float constant = normal(random);
    for (int64_t d = 0; d < kDim; ++d) {
      x.push_back(element(fill, d, constant, random));
    }
  }
  return x;
}

/// Within what f16 holds, where scales are f16.
void clamp_to_scales(int bits, std::vector<float>& x) {
  if (affine_scale_format(bits) == DenseFormat::kF16) {
    for (float& v : x) {
      v = std::clamp(v, -65280.0f, 65280.0f);
    }
  }
}

/// Values of one block as MLX's quantize stores them.
struct Quantized {
  std::vector<uint8_t> codes; // [kVectors][kDim]
  std::vector<uint16_t> scales; // [kVectors][kDim / group]
  std::vector<uint16_t> biases;
};

std::vector<uint16_t> pattern_bits(mx::array x) {
  x = mx::contiguous(mx::view(x, mx::uint16));
  x.eval();
  return {x.data<uint16_t>(), x.data<uint16_t>() + x.size()};
}

Quantized of_mlx(const std::vector<float>& x, int bits, int group) {
  mx::array in = mx::astype(
      mx::array(x.data(), {int(kVectors), int(kDim)}, mx::float32),
      mx::bfloat16);
  if (affine_scale_format(bits) == DenseFormat::kF16) {
    in = mx::astype(in, mx::float16);
  }
  const auto parts = mx::quantize(in, group, bits);
  mx::array packed = mx::contiguous(mx::view(parts[0], mx::uint8));
  packed.eval();
  const uint8_t* bytes = packed.data<uint8_t>();
  Quantized result{{}, pattern_bits(parts[1]), pattern_bits(parts[2])};
  // Rows hold their codes as one stream of bits, lowest first.
  for (int64_t i = 0; i < kVectors * kDim; ++i) {
    uint32_t code = 0;
    for (int64_t b = 0; b < bits; ++b) {
      const int64_t at = i * bits + b;
      code |= uint32_t(bytes[at / 8] >> (at % 8) & 1) << b;
    }
    result.codes.push_back(static_cast<uint8_t>(code));
  }
  return result;
}

Quantized of_codec(
    const std::vector<float>& x,
    ChannelRole role,
    const AffineCodec& codec) {
  std::vector<std::vector<std::byte>> bytes;
  for (const PlaneSpec& plane : codec.planes(role, kDim)) {
    bytes.emplace_back(plane.bytes.get());
  }
  std::byte* planes[] = {bytes[0].data(), bytes[1].data(), bytes[2].data()};
  for (int64_t t = 0; t < kVectors; ++t) {
    codec.encode(role, {x.data() + t * kDim, size_t(kDim)}, t, planes);
  }
  const CodecForm form = codec.form();
  Quantized result;
  for (int64_t t = 0; t < kVectors; ++t) {
    std::vector<uint8_t> codes(kDim);
    get_codes({role, form.bits, t}, planes[kAffineCodes], codes);
    result.codes.insert(result.codes.end(), codes.begin(), codes.end());
    for (int64_t d = 0; d < kDim; d += form.group) {
      const int64_t at = 2 * affine_scale_index(form.group, t, d);
      uint16_t value;
      std::memcpy(&value, planes[kAffineScales] + at, 2);
      result.scales.push_back(value);
      std::memcpy(&value, planes[kAffineBiases] + at, 2);
      result.biases.push_back(value);
    }
  }
  return result;
}

class AffineBesideMlx : public ::testing::TestWithParam<std::tuple<int, int>> {
};

TEST_P(AffineBesideMlx, StoresTheSameCodesScalesAndBiases) {
  const auto [bits, group] = GetParam();
  const AffineCodec codec(bits, group);
  for (int fill = 0; fill < kFills; ++fill) {
    for (uint32_t seed = 0; seed < 4; ++seed) {
      auto x = vectors(static_cast<Fill>(fill), 100 * fill + seed);
      clamp_to_scales(bits, x);
      Quantized expected = of_mlx(x, bits, group);
      const auto role =
          seed % 2 == 0 ? ChannelRole::kKeys : ChannelRole::kValues;
      const Quantized got = of_codec(x, role, codec);
      ASSERT_EQ(expected.scales, got.scales) << "fill " << fill;
      ASSERT_EQ(expected.biases, got.biases) << "fill " << fill;
      ASSERT_EQ(expected.codes, got.codes) << "fill " << fill;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Widths,
    AffineBesideMlx,
    ::testing::Combine(
        ::testing::Values(2, 3, 4, 5, 6, 8),
        ::testing::Values(32, 64, 128)),
    [](const auto& info) {
      return AffineCodec(std::get<0>(info.param), std::get<1>(info.param))
          .name();
    });

} // namespace
} // namespace holdfast
