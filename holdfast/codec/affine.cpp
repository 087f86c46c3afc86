// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/affine.h"

#include <array>
#include <cstring>

#include "holdfast/codec/affine_group.h"
#include "holdfast/codec/code_plane.h"
#include "holdfast/codec/rotation_layout.h"
#include "holdfast/codec/slot_check.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {

namespace {

constexpr int kUsualGroup = 64;

std::string name_of(int bits, int group) {
  const std::string name = std::string("q").append(std::to_string(bits));
  return group == kUsualGroup ? name : name + "g" + std::to_string(group);
}

// A codec with at least as many bits that stores such a head.
std::string fitting(int bits, int64_t head_dim) {
  for (const int group : {128, 64, 32}) {
    if (affine_fits(group, head_dim)) {
      return name_of(bits, group);
    }
  }
  if (can_rotate(head_dim)) {
    return std::string("t").append(std::to_string(bits == 6 ? 8 : bits));
  }
  return dense_fits(head_dim) ? "bf16" : "no codec";
}

} // namespace

AffineCodec::AffineCodec(int bits, int group) : bits_(bits), group_(group) {
  const bool known_bits = bits >= 2 && bits <= 8 && bits != 7;
  if (!known_bits || (group != 32 && group != 64 && group != 128)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[AffineCodec] expected 2, 3, 4, 5, 6 or 8 bits in groups of 32, 64 or "
        "128, got " +
            std::to_string(bits) + " in groups of " + std::to_string(group));
  }
}

std::string AffineCodec::name() const {
  return name_of(bits_, group_);
}

std::string AffineCodec::id() const {
  const bool f16 = affine_scale_format(bits_) == DenseFormat::kF16;
  return std::string("affine.").append(std::to_string(bits_)) + ".g" +
      std::to_string(group_) + (f16 ? ".f16.1" : ".bf16.1");
}

Status AffineCodec::supports(ChannelRole, int64_t head_dim) const {
  if (affine_fits(group_, head_dim)) {
    return Status();
  }
  return head_refusal(
      name(),
      "multiple of " + std::to_string(group_) + " up to " +
          std::to_string(kAffineMaxDim),
      head_dim,
      fitting(bits_, head_dim));
}

std::vector<PlaneSpec>
AffineCodec::planes(ChannelRole role, int64_t head_dim) const {
  supports(role, head_dim).check();
  const Bytes scales(affine_scale_bytes(group_, head_dim));
  return {
      {"codes", Bytes(code_bytes(role, bits_, head_dim))},
      {"scales", scales},
      {"biases", scales}};
}

void AffineCodec::encode(
    ChannelRole role,
    std::span<const float> vector,
    int64_t slot,
    std::span<std::byte* const> planes) const {
  const auto dim = static_cast<int64_t>(vector.size());
  encode_run(role, {vector.data(), dim, 1, dim}, slot, planes);
}

void AffineCodec::encode_run(
    ChannelRole role,
    const VectorRun& vectors,
    int64_t slot,
    std::span<std::byte* const> planes) const {
  const int64_t dim = vectors.dim;
  expect_slot(
      "AffineCodec.encode",
      supports(role, dim),
      {slot, planes.size(), vectors.count},
      kAffinePlanes);
  const auto put = [&](AffinePlane plane, int64_t t, int64_t d, uint16_t x) {
    std::memcpy(planes[plane] + 2 * affine_scale_index(group_, t, d), &x, 2);
  };
  const auto encode = [&](int64_t first, const CodedVectors& part) {
    AffineScale scales[kVectorsAtOnce * kAffineMostGroups];
    vector_loops().affine_encode({bits_, group_}, part, scales);
    const AffineScale* next = scales;
    for (int64_t t = slot + first; t < slot + first + part.count; ++t) {
      for (int64_t d = 0; d < dim; d += group_) {
        put(kAffineScales, t, d, next->scale);
        put(kAffineBiases, t, d, next->bias);
        ++next;
      }
    }
  };
  encode_codes({role, bits_, slot}, vectors, planes[kAffineCodes], encode);
}

void AffineCodec::decode(
    ChannelRole role,
    std::span<const std::byte* const> planes,
    int64_t slot,
    std::span<float> vector) const {
  const auto dim = static_cast<int64_t>(vector.size());
  expect_slot(
      "AffineCodec.decode",
      supports(role, dim),
      {slot, planes.size()},
      kAffinePlanes);
  std::array<uint8_t, kAffineMaxDim> buffer;
  const std::span<uint8_t> codes(buffer.data(), vector.size());
  get_codes({role, bits_, slot}, planes[kAffineCodes], codes);
  for (int64_t d = 0; d < dim; d += group_) {
    AffineScale scale;
    const int64_t at = 2 * affine_scale_index(group_, slot, d);
    std::memcpy(&scale.scale, planes[kAffineScales] + at, 2);
    std::memcpy(&scale.bias, planes[kAffineBiases] + at, 2);
    const AffineLine line = affine_line(bits_, scale);
    for (int64_t i = d; i < d + group_; ++i) {
      vector[i] = affine_decode(codes[i], line);
    }
  }
}

} // namespace holdfast
