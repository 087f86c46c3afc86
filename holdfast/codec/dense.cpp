// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/dense.h"

#include <cstring>

#include "holdfast/base/bits.h"
#include "holdfast/codec/slot_check.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {

namespace {

/// Where a token's elements lie: 16 after the other `step` apart; of bf16 keys
/// pairs, so that elements 2 i and 2 i + 1 are neighbours.
struct Sixteen {
  int64_t start;
  int64_t step;
  int64_t pair; // from an even element to the next
};
template <DenseFormat format>
Sixteen sixteen_at(ChannelRole role, int64_t dim, int64_t slot, int64_t d) {
  const bool keys = role == ChannelRole::kKeys;
  if constexpr (format == DenseFormat::kBf16) {
    return keys
        ? Sixteen{tiled_key_index(dense_key_width(format, dim), slot, d), 32, 1}
        : Sixteen{tiled_value_index(dim, slot, d), 4, 2};
  }
  return keys ? Sixteen{dense_key_index(dim, slot, d), 32, 16}
              : Sixteen{dense_value_index(dim, slot, d), 2, 1};
}

template <DenseFormat format>
struct Element;
template <>
struct Element<DenseFormat::kF32> {
  using Stored = float;
  static float of(float x) {
    return x;
  }
  static float number(float x) {
    return x;
  }
};
template <>
struct Element<DenseFormat::kF16> {
  using Stored = uint16_t;
  static uint16_t of(float x) {
    return f32_to_f16(x);
  }
  static float number(uint16_t x) {
    return f16_to_f32(x);
  }
};
template <>
struct Element<DenseFormat::kBf16> {
  using Stored = uint16_t;
  static uint16_t of(float x) {
    return f32_to_bf16(x);
  }
  static float number(uint16_t x) {
    return bf16_to_f32(x);
  }
};

/// body(index in the plane, i) for the i-th of sixteen elements.
template <class Body>
void for_sixteen(const Sixteen& at, const Body& body) {
  for (int64_t i = 0; i < 8; ++i) {
    body(at.start + i * at.step, 2 * i);
    body(at.start + i * at.step + at.pair, 2 * i + 1);
  }
}

template <DenseFormat format>
void put_token(
    ChannelRole role,
    std::span<const float> vector,
    int64_t slot,
    std::byte* plane) {
  using Stored = typename Element<format>::Stored;
  const auto dim = static_cast<int64_t>(vector.size());
  const auto put = [&](int64_t d, const float* from) {
    for_sixteen(
        sixteen_at<format>(role, dim, slot, d), [&](int64_t at, int64_t i) {
          const Stored x = Element<format>::of(from[i]);
          std::memcpy(plane + at * int64_t{sizeof(x)}, &x, sizeof(x));
        });
  };
  for (int64_t d = 0; d < dim; d += 16) {
    put(d, &vector[d]);
  }
  if (role == ChannelRole::kKeys && dim < dense_key_width(format, dim)) {
    constexpr float zeros[16] = {};
    put(dim, zeros);
  }
}

template <DenseFormat format>
void get_token(
    ChannelRole role,
    const std::byte* plane,
    int64_t slot,
    std::span<float> vector) {
  const auto dim = static_cast<int64_t>(vector.size());
  for (int64_t d = 0; d < dim; d += 16) {
    for_sixteen(
        sixteen_at<format>(role, dim, slot, d), [&](int64_t at, int64_t i) {
          typename Element<format>::Stored x;
          std::memcpy(&x, plane + at * int64_t{sizeof(x)}, sizeof(x));
          vector[d + i] = Element<format>::number(x);
        });
  }
}

/// body.operator()<format>() of that format.
template <class Body>
void with_format(DenseFormat format, const Body& body) {
  switch (format) {
    case DenseFormat::kF32:
      return body.template operator()<DenseFormat::kF32>();
    case DenseFormat::kF16:
      return body.template operator()<DenseFormat::kF16>();
    case DenseFormat::kBf16:
      return body.template operator()<DenseFormat::kBf16>();
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
  with_format(format_, [&]<DenseFormat format>() {
    put_token<format>(role, vector, slot, planes[0]);
  });
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
  with_format(format_, [&]<DenseFormat format>() {
    for (int64_t i = 0; i < count; ++i) {
      get_token<format>(
          role, planes[0], slot + i, vectors.subspan(i * dim, dim));
    }
  });
}

} // namespace holdfast
