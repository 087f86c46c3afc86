// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/gguf_quant.h"

#include <bit>
#include <cstring>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/formats/gguf_quant-inl.h"

namespace holdfast {

namespace {

static_assert(std::endian::native == std::endian::little);

template <class Layout>
constexpr GgufTypeInfo coded(GgufType type, const char* name) {
  return {
      type,
      name,
      Layout::kBlock,
      Layout::kBytes,
      {Layout::kBits, Layout::kGroup, Layout::kOffsets}};
}

constexpr GgufTypeInfo kTypes[] = {
    {GgufType::kF32, "F32", 1, 4, {}},
    {GgufType::kF16, "F16", 1, 2, {}},
    {GgufType::kBF16, "BF16", 1, 2, {}},
    coded<gguf::Q4_0>(GgufType::kQ4_0, "Q4_0"),
    coded<gguf::Q4_1>(GgufType::kQ4_1, "Q4_1"),
    coded<gguf::Q5_0>(GgufType::kQ5_0, "Q5_0"),
    coded<gguf::Q5_1>(GgufType::kQ5_1, "Q5_1"),
    coded<gguf::Q8_0>(GgufType::kQ8_0, "Q8_0"),
    coded<gguf::Q4_K>(GgufType::kQ4_K, "Q4_K"),
    coded<gguf::Q5_K>(GgufType::kQ5_K, "Q5_K"),
    coded<gguf::Q6_K>(GgufType::kQ6_K, "Q6_K"),
    coded<gguf::MXFP4>(GgufType::kMXFP4, "MXFP4"),
};

/// Every id of the format, so that a refusal can name what it met.
constexpr const char* kTypeNames[] = {
    "F32",   "F16",   "Q4_0",    "Q4_1",   nullptr,   nullptr, "Q5_0",
    "Q5_1",  "Q8_0",  "Q8_1",    "Q2_K",   "Q3_K",    "Q4_K",  "Q5_K",
    "Q6_K",  "Q8_K",  "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL",
    "IQ3_S", "IQ2_S", "IQ4_XS",  "I8",     "I16",     "I32",   "I64",
    "F64",   "IQ1_M", "BF16",    nullptr,  nullptr,   nullptr, "TQ1_0",
    "TQ2_0", nullptr, nullptr,   nullptr,  "MXFP4"};

/// Calls f with the block layout of a type that has codes.
template <class F>
void with_layout(GgufType type, F&& f) {
  switch (type) {
    case GgufType::kQ4_0:
      return f(gguf::Q4_0{});
    case GgufType::kQ4_1:
      return f(gguf::Q4_1{});
    case GgufType::kQ5_0:
      return f(gguf::Q5_0{});
    case GgufType::kQ5_1:
      return f(gguf::Q5_1{});
    case GgufType::kQ8_0:
      return f(gguf::Q8_0{});
    case GgufType::kQ4_K:
      return f(gguf::Q4_K{});
    case GgufType::kQ5_K:
      return f(gguf::Q5_K{});
    case GgufType::kQ6_K:
      return f(gguf::Q6_K{});
    case GgufType::kMXFP4:
      return f(gguf::MXFP4{});
    case GgufType::kF32:
    case GgufType::kF16:
    case GgufType::kBF16:
      break;
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      std::string("[gguf] expected a type with codes, got ") +
          gguf_type_info(type).name);
}

/// One block of codes -> values. A symmetric code loses its bias first: the
/// product is then the only rounding, as in the format's definition.
template <class Layout>
void block_values(const std::byte* block, float* out) {
  constexpr int kBias = Layout::kOffsets ? 0 : 1 << (Layout::kBits - 1);
  uint8_t codes[Layout::kBlock];
  float scales[Layout::kBlock / Layout::kGroup];
  float offsets[Layout::kBlock / Layout::kGroup];
  Layout::unpack(block, {codes, scales, offsets});
  for (int i = 0; i < Layout::kBlock; ++i) {
    const int group = i / Layout::kGroup;
    out[i] = scales[group] * static_cast<float>(codes[i] - kBias);
    if constexpr (Layout::kOffsets) {
      out[i] += offsets[group];
    }
  }
}

} // namespace

const GgufTypeInfo* find_gguf_type(uint32_t id) {
  for (const GgufTypeInfo& info : kTypes) {
    if (static_cast<uint32_t>(info.type) == id) {
      return &info;
    }
  }
  return nullptr;
}

const GgufTypeInfo& gguf_type_info(GgufType type) {
  const GgufTypeInfo* info = find_gguf_type(static_cast<uint32_t>(type));
  expect(info != nullptr, "[gguf] expected a known tensor type, got another");
  return *info;
}

const char* gguf_type_name(uint32_t id) {
  return id < std::size(kTypeNames) ? kTypeNames[id] : nullptr;
}

int64_t gguf_row_bytes(GgufType type, int64_t k) {
  const GgufTypeInfo& info = gguf_type_info(type);
  if (k < 0 || k % info.block != 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[gguf] expected a row of a multiple of " + std::to_string(info.block) +
            " weights for " + info.name + ", got " + std::to_string(k));
  }
  return k / info.block * info.block_bytes;
}

void unpack_row(
    GgufType type,
    const std::byte* row,
    int64_t k,
    uint8_t* codes,
    float* scales,
    float* offsets) {
  gguf_row_bytes(type, k); // refuses a bad k
  with_layout(type, [&](auto layout) {
    using Layout = decltype(layout);
    constexpr int kGroups = Layout::kBlock / Layout::kGroup;
    expect(
        !Layout::kOffsets || offsets != nullptr,
        "[gguf] expected a place for the offsets, got none");
    for (int64_t block = 0; block < k / Layout::kBlock; ++block) {
      Layout::unpack(
          row + block * Layout::kBytes,
          {codes + block * Layout::kBlock,
           scales + block * kGroups,
           offsets == nullptr ? nullptr : offsets + block * kGroups});
    }
  });
}

void read_values(
    GgufType type,
    const std::byte* row,
    int64_t k,
    float* values) {
  const int64_t bytes = gguf_row_bytes(type, k);
  if (type == GgufType::kF32) {
    std::memcpy(values, row, static_cast<size_t>(bytes));
    return;
  }
  if (type == GgufType::kF16 || type == GgufType::kBF16) {
    for (int64_t i = 0; i < k; ++i) {
      const auto bits = load_unaligned<uint16_t>(row + 2 * i);
      values[i] = type == GgufType::kF16 ? f16_to_f32(bits) : bf16_to_f32(bits);
    }
    return;
  }
  with_layout(type, [&](auto layout) {
    using Layout = decltype(layout);
    for (int64_t block = 0; block < k / Layout::kBlock; ++block) {
      block_values<Layout>(
          row + block * Layout::kBytes, values + block * Layout::kBlock);
    }
  });
}

} // namespace holdfast
