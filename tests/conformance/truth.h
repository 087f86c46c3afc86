// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What is true of one cell: each token's queries, keys and values, what its
// codecs make of them in every phase, and attention over that written out in
// double. It shares the codecs' encode and decode with the code under test and
// nothing else. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "cell.h"

namespace holdfast::conformance {

/// Token ids are below this, so that what is stored of each is worked out once.
inline constexpr int32_t kVocabulary = 48;

/// A token of a row with its bidirectional span: itself alone where it is in
/// none.
struct TokenAt {
  int32_t id = 0;
  BidirectionalSpan span;

  bool operator==(const TokenAt&) const = default;
};

/// Keys [kv_heads, key_dim] and values [kv_heads, value_dim] of one token; a
/// latent is the value.
struct KeysValues {
  std::vector<float> keys;
  std::vector<float> values;

  const std::vector<float>& of(ChannelRole role) const {
    return role == ChannelRole::kKeys ? keys : values;
  }
};

class Truth {
 public:
  /// Keys and values are those of `layer` or its donor, queries its own.
  Truth(const Cell& cell, int64_t layer);

  const Cell& cell() const {
    return cell_;
  }
  /// [query_heads * query_dim]
  const std::vector<float>& query(int32_t token) const {
    return queries_[static_cast<size_t>(token)];
  }
  const KeysValues& given(int32_t token) const {
    return given_[static_cast<size_t>(token)];
  }
  /// The phase in which a step from so many committed positions on writes.
  size_t birth(Position committed) const;
  /// What the last encoding of that token was given, where its row is in
  /// `phase`: the token's own vectors, or what the phase before held.
  const KeysValues& source(const TokenAt& token, size_t phase);
  /// What decoding gives then.
  const KeysValues& stored(const TokenAt& token, size_t phase);

  struct Output {
    std::vector<double> values; // [query_heads * value_dim]
    double bound = 0.0; // how far a read may be from that, in any element
  };
  /// The output of the token at `position` of these, exact over what is stored
  /// of those that it sees.
  Output
  attend(std::span<const TokenAt> tokens, int64_t position, size_t phase);

 private:
  void round_query(std::vector<float>& q, size_t phase) const;
  /// Of a query head and one key-value head.
  double score(const float* q, const KeysValues& kv, int64_t head) const;
  double bound(size_t phase, double largest) const;
  const KeysValues&
  kept(int32_t token, size_t birth, size_t phase, bool decoded);

  Cell cell_;
  std::vector<std::vector<float>> queries_; // [token]
  std::vector<KeysValues> given_; // [token]
  // (token, birth, phase) -> what went into the codecs and what comes out
  std::map<
      std::tuple<int32_t, size_t, size_t>,
      std::pair<KeysValues, KeysValues>>
      kept_;
};

/// Encodes and decodes each head of `vectors` [heads * dim].
std::vector<float> through(
    const Codec& codec,
    ChannelRole role,
    const std::vector<float>& vectors,
    int64_t dim);

} // namespace holdfast::conformance
