// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/mlx_quantization.h"

#include <cstring>

#include "holdfast/base/check.h"
#include "holdfast/engine/mxfp4.h"

namespace holdfast {

namespace {

constexpr int kMostGroup = 128;
constexpr float kMxfp4Zero = 1 << (kMxfp4Format.bits - 1); // the code of 0
constexpr std::string_view kField = "quantization.";

/// Eight codes take as many bytes as one has bits.
template <int kBits>
void unpack(const std::byte* words, int64_t k, uint8_t* codes) {
  constexpr uint64_t kMask = (1u << kBits) - 1;
  for (int64_t i = 0; i < k; i += 8, words += kBits) {
    uint64_t eight = 0;
    std::memcpy(&eight, words, kBits);
    for (int c = 0; c < 8; ++c) {
      codes[i + c] = static_cast<uint8_t>(eight >> (c * kBits) & kMask);
    }
  }
}

/// The same of 4 bits, in a loop that compilers make vectors of.
void unpack_nibbles(const std::byte* words, int64_t k, uint8_t* codes) {
  for (int64_t i = 0; i < k / 2; ++i) {
    const auto both = static_cast<uint8_t>(words[i]);
    codes[2 * i] = both & 15;
    codes[2 * i + 1] = static_cast<uint8_t>(both >> 4);
  }
}

template <int kBits>
void pack(const uint8_t* codes, int64_t k, std::byte* words) {
  for (int64_t i = 0; i < k; i += 8, words += kBits) {
    uint64_t eight = 0;
    for (int c = 0; c < 8; ++c) {
      eight |= uint64_t{codes[i + c]} << (c * kBits);
    }
    std::memcpy(words, &eight, kBits);
  }
}

MlxQuantized::Mode mode_of(const Settings& settings, const std::string& name) {
  const std::string mode = settings.text(name, "affine");
  if (mode != "affine" && mode != "mxfp4") {
    throw settings.refusal(
        name,
        "affine or mxfp4",
        '"' + mode.substr(0, 40) + '"',
        ErrorCode::kUnsupported);
  }
  return mode == "affine" ? MlxQuantized::Mode::kAffine
                          : MlxQuantized::Mode::kMxfp4;
}

/// `prefix` ends with a dot.
MlxQuantized
read_quantized(const Settings& settings, const std::string& prefix) {
  const MlxQuantized result{
      .bits = static_cast<int>(settings.size(prefix + "bits")),
      .group = static_cast<int>(settings.size(prefix + "group_size")),
      .mode = mode_of(settings, prefix + "mode")};
  const bool affine = result.mode == MlxQuantized::Mode::kAffine;
  const int b = result.bits;
  if (affine ? b < 2 || b > 8 || b == 7 : b != 4) {
    throw settings.refusal(
        prefix + "bits",
        affine ? "2, 3, 4, 5, 6 or 8" : "4 in mode mxfp4",
        std::to_string(b),
        ErrorCode::kUnsupported);
  }
  const int g = result.group;
  if (affine ? g != 32 && g != 64 && g != 128 : g != kMxfp4Group) {
    throw settings.refusal(
        prefix + "group_size",
        affine ? "32, 64 or 128" : "32 in mode mxfp4",
        std::to_string(g),
        ErrorCode::kUnsupported);
  }
  return result;
}

} // namespace

int64_t MlxModule::scale_bytes() const {
  if (kind.mode == MlxQuantized::Mode::kMxfp4) {
    return 1;
  }
  return type == TensorType::kF32 ? 4 : 2;
}

MlxModule MlxModule::rows(int64_t first, int64_t count) const {
  const int64_t scales_at = first * (k / kind.group) * scale_bytes();
  MlxModule result = *this;
  result.codes += first * k * kind.bits / 8;
  result.scales += scales_at;
  result.biases += biases == nullptr ? 0 : scales_at;
  result.n = count;
  return result;
}

cpu::WeightFormat MlxModule::format() const {
  return kind.mode == MlxQuantized::Mode::kMxfp4
      ? kMxfp4Format
      : cpu::WeightFormat{
            cpu::WeightFormat::Kind::kCodes, kind.bits, kind.group, true};
}

void MlxModule::read_codes(int64_t row, const cpu::CodeRow& out) const {
  const int64_t groups = k / kind.group;
  const int64_t at = row * groups * scale_bytes();
  const std::byte* words = codes + row * k * kind.bits / 8;
  if (kind.mode == MlxQuantized::Mode::kMxfp4) {
    read_mxfp4(words, scales + at, k, out);
    return;
  }
  unpack_mlx_codes(kind.bits, words, k, out.codes);
  read_tensor_floats(type, scales + at, groups, out.scales);
  read_tensor_floats(type, biases + at, groups, out.offsets);
}

void MlxModule::read_values(int64_t row, float* values) const {
  const int64_t groups = k / kind.group;
  const bool mxfp4 = kind.mode == MlxQuantized::Mode::kMxfp4;
  for (int64_t g = 0; g < groups; ++g) {
    uint8_t group[kMostGroup];
    float scale = 0, bias = 0;
    // A group is a module of one row.
    MlxModule one = *this;
    one.k = kind.group;
    one.rows(row * groups + g, 1)
        .read_codes(0, {.codes = group, .scales = &scale, .offsets = &bias});
    if (mxfp4) {
      bias = -scale * kMxfp4Zero;
    }
    for (int i = 0; i < kind.group; ++i) {
      *values++ = scale * static_cast<float>(group[i]) + bias;
    }
  }
}

void unpack_mlx_codes(
    int bits,
    const std::byte* words,
    int64_t k,
    uint8_t* codes) {
  switch (bits) {
    case 2:
      return unpack<2>(words, k, codes);
    case 3:
      return unpack<3>(words, k, codes);
    case 4:
      return unpack_nibbles(words, k, codes);
    case 5:
      return unpack<5>(words, k, codes);
    case 6:
      return unpack<6>(words, k, codes);
    default:
      std::memcpy(codes, words, static_cast<size_t>(k));
  }
}

void pack_mlx_codes(
    int bits,
    const uint8_t* codes,
    int64_t k,
    std::byte* words) {
  switch (bits) {
    case 2:
      return pack<2>(codes, k, words);
    case 3:
      return pack<3>(codes, k, words);
    case 4:
      return pack<4>(codes, k, words);
    case 5:
      return pack<5>(codes, k, words);
    case 6:
      return pack<6>(codes, k, words);
    default:
      std::memcpy(words, codes, static_cast<size_t>(k));
  }
}

std::string canonical_name(std::string_view name) {
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view prefix : {"language_model.", "model."}) {
      if (name.starts_with(prefix)) {
        name.remove_prefix(prefix.size());
        cut = true;
      }
    }
  }
  return std::string(name);
}

MlxQuantization::MlxQuantization(const Settings& settings) {
  if (!settings.has("quantization")) {
    // mlx-lm writes its own settings there a second time. gpt-oss as published
    // says MXFP4, as the tensors of its experts do (published_experts.h).
    const std::string method =
        settings.text("quantization_config.quant_method", std::string_view());
    if (settings.has("quantization_config") && method != "mxfp4") {
      throw settings.refusal(
          "quantization_config",
          "\"quantization\" as MLX writes it",
          "only the settings of another quantisation",
          ErrorCode::kUnsupported);
    }
    return;
  }
  usual_ = read_quantized(settings, std::string(kField));
  for (const std::string& name : settings.names(kField)) {
    const std::string module = name.substr(kField.size());
    const std::string outer = name.substr(0, name.rfind('.'));
    const bool of_module =
        outer.size() > kField.size() && settings.is_object(outer);
    if (of_module || module == "bits" || module == "group_size" ||
        module == "mode") {
      continue;
    }
    modules_[canonical_name(module)] = settings.is_object(name)
        ? read_quantized(settings, name + ".")
        : (settings.flag(name, false) ? usual_ : std::nullopt);
  }
}

std::optional<MlxQuantized> MlxQuantization::of(std::string_view module) const {
  const auto found = modules_.find(module);
  return found == modules_.end() ? usual_ : found->second;
}

} // namespace holdfast
