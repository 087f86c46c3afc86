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

namespace holdfast {

/// Keys and values of one codec may be laid out differently: attention walks
/// keys along the head dimension and values along the tokens.
enum class ChannelRole { kKeys, kValues };

class Codec {
 public:
  virtual ~Codec() = default;

  /// What the user writes: "bf16".
  virtual std::string name() const = 0;
  /// Names everything that decides the stored bits; persisted: "dense.bf16.1".
  virtual std::string id() const = 0;
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
};

/// The codec of that name, or kInvalidArgument listing the names known.
Result<const Codec*> find_codec(std::string_view name);
/// All registered codecs, for suites that run each.
std::span<const Codec* const> all_codecs();

} // namespace holdfast
