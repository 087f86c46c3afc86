// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How a channel (a layer's keys, or its values) is stored.
//
// A codec encodes one token's vector of one head into the planes of a block
// image and back. It works per token, so chunking cannot change its bytes, and
// it knows nothing of rows, positions or windows. Stateless; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/block/layout.h"
#include "holdfast/codec/dense_layout.h"

namespace holdfast {

/// Keys and values of one codec may be laid out differently: attention walks
/// keys along the head dimension and values along the tokens.
enum class ChannelRole { kKeys, kValues };

enum class CodecKind { kDense, kAffine, kTurbo, kOther };

/// What a kernel needs to recognise a codec. Fields that a kind has no use for
/// keep their defaults, so that forms compare as values.
struct CodecForm {
  CodecKind kind = CodecKind::kOther;
  DenseFormat format = DenseFormat::kF32; // of elements; affine: of scales
  int bits = 0; // affine, turbo
  int group = 0; // affine: elements that share a scale and a bias
  bool operator==(const CodecForm&) const = default;
};

/// Vectors [dim] of neighbouring tokens, `stride` floats apart.
struct VectorRun {
  const float* first = nullptr;
  int64_t stride = 0;
  int64_t count = 0;
  int64_t dim = 0;

  const float* vector(int64_t i) const {
    return first + i * stride;
  }
  std::span<const float> operator[](int64_t i) const {
    return {vector(i), static_cast<size_t>(dim)};
  }
};

class Codec {
 public:
  virtual ~Codec() = default;

  /// What the user writes: "bf16".
  virtual std::string name() const = 0;
  /// Names everything that decides the stored bits; persisted: "dense.bf16.1".
  virtual std::string id() const = 0;
  /// kOther: no kernel knows it, reads go through encode and decode.
  virtual CodecForm form() const {
    return {};
  }
  /// Ok, or kUnsupported naming a codec that fits `head_dim`.
  virtual Status supports(ChannelRole role, int64_t head_dim) const = 0;
  /// The planes of one head of one block.
  virtual std::vector<PlaneSpec>
  planes(ChannelRole role, int64_t head_dim) const = 0;
  /// Writes one token into slot [0, kBlockTokens) of `planes`.
  /// vector: [head_dim].
  virtual void encode(
      ChannelRole role,
      std::span<const float> vector,
      int64_t slot,
      std::span<std::byte* const> planes) const = 0;
  /// Reads one token back. vector: [head_dim].
  virtual void decode(
      ChannelRole role,
      std::span<const std::byte* const> planes,
      int64_t slot,
      std::span<float> vector) const = 0;
  /// encode() of each vector, into `slot` and the slots after it; a codec that
  /// is faster at many writes the same bytes.
  virtual void encode_run(
      ChannelRole role,
      const VectorRun& vectors,
      int64_t slot,
      std::span<std::byte* const> planes) const;
  /// decode() of `slot` and the slots after it. vectors: [tokens][head_dim].
  virtual void decode_run(
      ChannelRole role,
      std::span<const std::byte* const> planes,
      int64_t slot,
      int64_t head_dim,
      std::span<float> vectors) const;
};

/// The codec of that name, or kInvalidArgument listing the names known.
Result<const Codec*> find_codec(std::string_view name);
/// All registered codecs, for suites that run each: the built-in ones, then
/// those that are registered at this moment.
std::vector<const Codec*> all_codecs();

/// While it lives, its codec is found by name like a built-in one.
class CodecRegistration {
 public:
  explicit CodecRegistration(const Codec* codec);
  ~CodecRegistration();
  CodecRegistration(const CodecRegistration&) = delete;
  CodecRegistration& operator=(const CodecRegistration&) = delete;

 private:
  const Codec* codec_;
};
/// Adds a codec, which must outlive the registration. Throws kInvalidArgument
/// where its name or id is taken. At namespace scope in a test, the codec joins
/// every suite of that program.
[[nodiscard]] inline CodecRegistration register_codec(const Codec* codec) {
  return CodecRegistration(codec);
}

} // namespace holdfast
