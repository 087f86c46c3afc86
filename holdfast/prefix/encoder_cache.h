// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What an encoder made of an input (an image, a sound) is made once: tensors of
// any type and rank, by what decides their bits (docs/objects.md).
//
// Invariants: what is kept shares nothing with the caller's array; an array
// that is given out reads the stored bytes in place, and MLX never takes its
// memory for an output. Threads: any; each call evaluates on its own thread,
// and its arrays are that thread's.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mlx/array.h"
#include "mlx/utils.h"

#include "holdfast/base/sha256.h"
#include "holdfast/objects/object_cache.h"

namespace holdfast {

/// Everything about an input that decides what the encoder makes of it.
struct EncoderInput {
  Digest256 content; // SHA-256 of its bytes
  std::string parameters = {}; // of its preparation, in one spelling
};

class EncoderCache {
 public:
  /// `objects` outlives this; several encoders may share it. identity: all of
  /// the encoder that decides bits, such as its weights' digest and its config.
  /// Throws kInvalidArgument for an empty one.
  EncoderCache(
      ObjectCache& objects,
      std::string identity,
      const std::string& tenant_salt = {});

  std::optional<mlx::core::array> get(const EncoderInput& input);
  /// [input], in their order, each by itself.
  std::vector<std::optional<mlx::core::array>>
  get_many(std::span<const EncoderInput> inputs);

  /// Evaluates the array on the stream and keeps a copy; cost: to make it
  /// again, ns, 0: unknown. False where it finds no room in RAM.
  bool
  put(const EncoderInput& input,
      const mlx::core::array& features,
      int64_t cost = 0,
      mlx::core::StreamOrDevice stream = {});

  /// Encodes the inputs of these indices: an array each, in their order.
  using Encode =
      std::function<std::vector<mlx::core::array>(std::span<const size_t>)>;
  /// [input] what is known, and what `encode` makes of the rest in one call;
  /// what several callers miss at once is encoded by one of them. Each missing
  /// input's cost is its part of the call's time. Throws what `encode` throws;
  /// then nothing of it is kept.
  std::vector<mlx::core::array> get_or_make(
      std::span<const EncoderInput> inputs,
      const Encode& encode,
      mlx::core::StreamOrDevice stream = {});

  /// Asked after what was made of arrays of this cache was evaluated: false
  /// where the file of one was cut short meanwhile, so that it means nothing
  /// (mapping_guard.h). The next call misses it.
  static bool intact(std::span<const mlx::core::array> arrays);

  /// Off the disk too.
  Status remove(const EncoderInput& input);
  /// The key that an input's tensor is kept under.
  ObjectKey key(const EncoderInput& input) const;

 private:
  std::vector<ObjectKey> keys(std::span<const EncoderInput> inputs) const;
  /// Nothing where the object is no tensor: it is removed.
  std::optional<mlx::core::array>
  array_of(const ObjectKey& key, const std::optional<Object>& found);

  ObjectCache& objects_;
  const std::string prefix_; // of all keys
};

} // namespace holdfast
