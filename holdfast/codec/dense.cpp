// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/dense.h"

#include <cstring>

#include "holdfast/base/bits.h"
#include "holdfast/codec/slot_check.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {

namespace {

// body(index in the plane, element) for a token's bf16 elements. Elements 2 i
// and 2 i + 1 of a key are neighbours; steps between pairs, and between values,
// are constant within 16 elements.
template <class Body>
void for_bf16(ChannelRole role, int64_t dim, int64_t slot, const Body& body) {
  const bool keys = role == ChannelRole::kKeys;
  const int64_t width = dense_key_width(DenseFormat::kBf16, dim);
  for (int64_t first = 0; first < dim; first += 16) {
    const int64_t start = keys ? tiled_key_index(width, slot, first)
                               : tiled_value_index(dim, slot, first);
    for (int64_t i = 0; i < 16; ++i) {
      body(start + (keys ? i / 2 * 32 + i % 2 : 2 * i), first + i);
    }
  }
}

} // namespace

std::string DenseCodec::name() const {
  switch (format_) {
    case DenseFormat::kF32:
      return "f32";
    case DenseFormat::kF16:
      return "f16";
    case DenseFormat::kBf16:
      break;
  }
  return "bf16";
}

std::string DenseCodec::id() const {
  return std::string("dense.").append(name()).append(".1");
}

Status DenseCodec::supports(ChannelRole, int64_t head_dim) const {
  if (dense_fits(head_dim)) {
    return Status();
  }
  return head_refusal(
      name(),
      "multiple of 16 up to " + std::to_string(kDenseMaxDim),
      head_dim,
      "no codec");
}

std::vector<PlaneSpec>
DenseCodec::planes(ChannelRole role, int64_t head_dim) const {
  supports(role, head_dim).check();
  const int64_t width = role == ChannelRole::kKeys
      ? dense_key_width(format_, head_dim)
      : head_dim;
  return {
      {role == ChannelRole::kKeys ? "keys" : "values",
       Bytes(kBlockTokens * width * dense_element_bytes(format_))}};
}

void DenseCodec::encode(
    ChannelRole role,
    std::span<const float> vector,
    int64_t slot,
    std::span<std::byte* const> planes) const {
  const auto dim = static_cast<int64_t>(vector.size());
  expect_slot(
      "DenseCodec.encode", supports(role, dim), {slot, planes.size()}, 1);
  if (format_ == DenseFormat::kBf16) {
    for_bf16(role, dim, slot, [&](int64_t index, int64_t d) {
      const uint16_t bits = f32_to_bf16(vector[d]);
      std::memcpy(planes[0] + index * 2, &bits, 2);
    });
  } else {
    for (int64_t d = 0; d < dim; ++d) {
      store(planes[0], index(role, dim, slot, d), vector[d]);
    }
  }
  if (role == ChannelRole::kKeys) {
    for (int64_t d = dim; d < dense_key_width(format_, dim); ++d) {
      store(planes[0], index(role, dim, slot, d), 0.0f);
    }
  }
}

void DenseCodec::decode(
    ChannelRole role,
    std::span<const std::byte* const> planes,
    int64_t slot,
    std::span<float> vector) const {
  decode_run(role, planes, slot, std::ssize(vector), vector);
}

void DenseCodec::decode_run(
    ChannelRole role,
    std::span<const std::byte* const> planes,
    int64_t slot,
    int64_t dim,
    std::span<float> vectors) const {
  const Status supported = supports(role, dim);
  const int64_t count = supported.ok() ? std::ssize(vectors) / dim : 0;
  expect_slot("DenseCodec.decode", supported, {slot, planes.size(), count}, 1);
  if (format_ == DenseFormat::kBf16) {
    const VectorLoops& loops = vector_loops();
    const auto& read = role == ChannelRole::kKeys ? loops.read_bf16_keys
                                                  : loops.read_bf16_values;
    read(
        {slot, count, dim},
        reinterpret_cast<const uint16_t*>(planes[0]),
        vectors.data());
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t d = 0; d < dim; ++d) {
      vectors[i * dim + d] = load(planes[0], index(role, dim, slot + i, d));
    }
  }
}

int64_t
DenseCodec::index(ChannelRole role, int64_t dim, int64_t slot, int64_t d)
    const {
  const bool keys = role == ChannelRole::kKeys;
  if (format_ == DenseFormat::kBf16) {
    return keys ? tiled_key_index(dense_key_width(format_, dim), slot, d)
                : tiled_value_index(dim, slot, d);
  }
  return keys ? dense_key_index(dim, slot, d) : dense_value_index(dim, slot, d);
}

void DenseCodec::store(std::byte* plane, int64_t index, float value) const {
  if (format_ == DenseFormat::kF32) {
    std::memcpy(plane + index * 4, &value, 4);
    return;
  }
  const uint16_t bits =
      format_ == DenseFormat::kF16 ? f32_to_f16(value) : f32_to_bf16(value);
  std::memcpy(plane + index * 2, &bits, 2);
}

float DenseCodec::load(const std::byte* plane, int64_t index) const {
  if (format_ == DenseFormat::kF32) {
    float value;
    std::memcpy(&value, plane + index * 4, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, plane + index * 2, 2);
  return format_ == DenseFormat::kF16 ? f16_to_f32(bits) : bf16_to_f32(bits);
}

std::optional<DenseFormat> dense_format(const Codec& codec) {
  const CodecForm form = codec.form();
  return form.kind == CodecKind::kDense ? std::optional(form.format)
                                        : std::nullopt;
}

} // namespace holdfast
