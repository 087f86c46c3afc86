// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/turbo.h"

#include <array>
#include <cstring>

#include "holdfast/codec/code_plane.h"
#include "holdfast/codec/rotation.h"
#include "holdfast/codec/slot_check.h"
#include "holdfast/codec/turbo_vector.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {

static_assert(
    kTurboDimStep == kRotationDimStep && kTurboMaxDim == kRotationMaxDim);

TurboCodec::TurboCodec(int bits) : bits_(bits) {
  if (bits != 8 && (bits < 2 || bits > 5)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[TurboCodec] expected 2, 3, 4, 5 or 8 bits, got " +
            std::to_string(bits));
  }
}

std::string TurboCodec::name() const {
  return std::string("t").append(std::to_string(bits_));
}

std::string TurboCodec::id() const {
  return std::string("turbo.").append(std::to_string(bits_)) +
      ".hadamard.seed" + std::to_string(kRotationSeed) + ".f32.1";
}

Status TurboCodec::supports(ChannelRole, int64_t head_dim) const {
  if (can_rotate(head_dim)) {
    return Status();
  }
  return head_refusal(
      name(),
      "multiple of " + std::to_string(kRotationDimStep) + " from " +
          std::to_string(kRotationMinDim) + " to " +
          std::to_string(kRotationMaxDim),
      head_dim,
      dense_fits(head_dim) ? "bf16" : "no codec");
}

std::vector<PlaneSpec>
TurboCodec::planes(ChannelRole role, int64_t head_dim) const {
  supports(role, head_dim).check();
  return {
      {"codes", Bytes(code_bytes(role, bits_, head_dim))},
      {"norms", Bytes(kTurboNormBytes)}};
}

void TurboCodec::encode(
    ChannelRole role,
    std::span<const float> vector,
    int64_t slot,
    std::span<std::byte* const> planes) const {
  const auto dim = static_cast<int64_t>(vector.size());
  encode_run(role, {vector.data(), dim, 1, dim}, slot, planes);
}

void TurboCodec::encode_run(
    ChannelRole role,
    const VectorRun& vectors,
    int64_t slot,
    std::span<std::byte* const> planes) const {
  const int64_t dim = vectors.dim;
  expect_slot(
      "TurboCodec.encode",
      supports(role, dim),
      {slot, planes.size(), vectors.count},
      kTurboPlanes);
  const auto encode = [&](int64_t first, const CodedVectors& part) {
    float norms[kVectorsAtOnce];
    vector_loops().turbo_encode(bits_, part, norms);
    std::memcpy(
        planes[kTurboNorms] + 4 * turbo_norm_index(slot + first),
        norms,
        static_cast<size_t>(4 * part.count));
  };
  encode_codes({role, bits_, slot}, vectors, planes[kTurboCodes], encode);
}

void TurboCodec::decode(
    ChannelRole role,
    std::span<const std::byte* const> planes,
    int64_t slot,
    std::span<float> vector) const {
  decode_rotated(role, planes, slot, vector);
  unrotate(vector);
}

void TurboCodec::decode_rotated(
    ChannelRole role,
    std::span<const std::byte* const> planes,
    int64_t slot,
    std::span<float> rotated) const {
  const auto dim = static_cast<int64_t>(rotated.size());
  expect_slot(
      "TurboCodec.decode",
      supports(role, dim),
      {slot, planes.size()},
      kTurboPlanes);
  std::array<uint8_t, kTurboMaxDim> buffer;
  const std::span<uint8_t> codes(buffer.data(), rotated.size());
  get_codes({role, bits_, slot}, planes[kTurboCodes], codes);
  float norm;
  std::memcpy(&norm, planes[kTurboNorms] + 4 * turbo_norm_index(slot), 4);
  turbo_decode_rotated(bits_, codes, norm, rotated);
}

} // namespace holdfast
