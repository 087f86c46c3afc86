// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "truth.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/rounded_query.h"

namespace holdfast::conformance {

namespace {

std::vector<float> uniform(std::mt19937_64& random, int64_t count) {
  std::uniform_real_distribution<float> values(-1.0f, 1.0f);
  std::vector<float> result(static_cast<size_t>(count));
  for (float& x : result) {
    x = values(random);
  }
  return result;
}

} // namespace

std::vector<float> through(
    const Codec& codec,
    ChannelRole role,
    const std::vector<float>& vectors,
    int64_t dim) {
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte*> planes;
  for (const PlaneSpec& plane : codec.planes(role, dim)) {
    memory.emplace_back(static_cast<size_t>(plane.bytes.get()));
    planes.push_back(memory.back().data());
  }
  const std::vector<const std::byte*> read(planes.begin(), planes.end());
  std::vector<float> result(vectors.size());
  for (size_t at = 0; at < vectors.size(); at += static_cast<size_t>(dim)) {
    codec.encode(
        role, {vectors.data() + at, static_cast<size_t>(dim)}, 3, planes);
    codec.decode(role, read, 3, {result.data() + at, static_cast<size_t>(dim)});
  }
  return result;
}

Truth::Truth(const Cell& cell, int64_t layer) : cell_(cell) {
  const int64_t stored = cell.spec.donor.value_or(LayerIndex(layer)).get();
  std::mt19937_64 random(static_cast<uint64_t>(77 * stored + 5));
  std::mt19937_64 of_queries(static_cast<uint64_t>(91 * layer + 3));
  const AttentionSpec& spec = cell.spec;
  for (int32_t token = 0; token < kVocabulary; ++token) {
    queries_.push_back(
        uniform(of_queries, spec.query_heads * spec.query_dim()));
    given_.push_back(
        {.keys = uniform(random, spec.kv_heads * spec.key_dim),
         .values = uniform(random, spec.kv_heads * spec.value_dim)});
  }
}

size_t Truth::birth(Position committed) const {
  size_t phase = 0;
  while (phase + 1 < cell_.phases.size() &&
         cell_.phases[phase + 1].start <= committed) {
    ++phase;
  }
  return phase;
}

const KeysValues&
Truth::kept(int32_t token, size_t birth, size_t phase, bool decoded) {
  const auto key = std::make_tuple(token, birth, phase);
  auto found = kept_.find(key);
  if (found == kept_.end()) {
    const KeysValues source =
        birth == phase ? given(token) : kept(token, birth, phase - 1, true);
    const LayerPhase& of = cell_.phases[phase];
    KeysValues stored{
        .keys = through(
            *of.keys, ChannelRole::kKeys, source.keys, cell_.spec.key_dim),
        .values = through(
            *of.values,
            ChannelRole::kValues,
            source.values,
            cell_.spec.value_dim)};
    found = kept_.emplace(key, std::make_pair(source, std::move(stored))).first;
  }
  return decoded ? found->second.second : found->second.first;
}

// All of a span is written in the phase of its first position.
const KeysValues& Truth::source(const TokenAt& token, size_t phase) {
  return kept(token.id, birth(token.span.begin), phase, false);
}

const KeysValues& Truth::stored(const TokenAt& token, size_t phase) {
  return kept(token.id, birth(token.span.begin), phase, true);
}

// A read through MLX rounds no query, nor does that of a latent.
void Truth::round_query(std::vector<float>& q, size_t phase) const {
  if (cell_.exact() && !cell_.spec.latent) {
    test::round_query(
        cell_.phases[phase].keys->form(),
        static_cast<size_t>(cell_.spec.key_dim),
        q);
  }
}

double Truth::score(const float* q, const KeysValues& kv, int64_t head) const {
  double sum = 0.0;
  const auto add = [&](const std::vector<float>& key, int64_t dim) {
    for (int64_t d = 0; d < dim; ++d) {
      sum +=
          static_cast<double>(*q++) * key[static_cast<size_t>(head * dim + d)];
    }
  };
  if (cell_.spec.latent) {
    add(kv.values, cell_.spec.value_dim);
  }
  add(kv.keys, cell_.spec.key_dim);
  sum *= cell_.spec.scale;
  const double cap = cell_.spec.softcap;
  return cap > 0.0 ? cap * std::tanh(sum / cap) : sum;
}

Truth::Output
Truth::attend(std::span<const TokenAt> tokens, int64_t position, size_t phase) {
  const AttentionSpec& spec = cell_.spec;
  const Visibility& sees = spec.visibility;
  const TokenAt& asking = tokens[static_cast<size_t>(position)];
  const int64_t end = sees.spans ? asking.span.end.get() : position + 1;
  std::vector<float> q = query(asking.id);
  round_query(q, phase);
  std::vector<double> out(
      static_cast<size_t>(spec.query_heads * spec.value_dim), 0.0);
  std::vector<double> sums(static_cast<size_t>(spec.query_heads), 0.0);
  double largest = 0.0;
  const int64_t heads_each = spec.query_heads / spec.kv_heads;
  for (int64_t j = 0; j < end; ++j) {
    if (sees.window > 0 && std::abs(j - position) >= sees.window &&
        j >= sees.sinks) {
      continue;
    }
    const KeysValues& kv = stored(tokens[static_cast<size_t>(j)], phase);
    for (int64_t h = 0; h < spec.query_heads; ++h) {
      const int64_t head = h / heads_each;
      const double weight =
          std::exp(score(q.data() + h * spec.query_dim(), kv, head));
      sums[static_cast<size_t>(h)] += weight;
      const float* v = kv.values.data() + head * spec.value_dim;
      for (int64_t d = 0; d < spec.value_dim; ++d) {
        out[static_cast<size_t>(h * spec.value_dim + d)] += weight * v[d];
        largest = std::max(largest, std::fabs(static_cast<double>(v[d])));
      }
    }
  }
  for (int64_t h = 0; h < spec.query_heads; ++h) {
    double& sum = sums[static_cast<size_t>(h)];
    if (!spec.sink_logits.empty()) {
      sum += std::exp(
          static_cast<double>(spec.sink_logits[static_cast<size_t>(h)]));
    }
    for (int64_t d = 0; d < spec.value_dim; ++d) {
      out[static_cast<size_t>(h * spec.value_dim + d)] /= sum;
    }
  }
  return {.values = std::move(out), .bound = bound(phase, largest)};
}

// Where values are bf16 or codes, weights (of codes: their products with a
// scale) round to bf16, relative 2^-9 each. That of codes meets the distance
// from the middle of an affine group's codes, up to 4/3 of half its range. The
// rest rounds in f32, over sums that are larger than the result where keys are
// codes, and as MLX's attention does. Codes may stand for values of more
// than 1.
double Truth::bound(size_t phase, double largest) const {
  const CodecForm keys = cell_.phases[phase].keys->form();
  const CodecForm values = cell_.phases[phase].values->form();
  const double most = std::max(1.0, largest);
  if (!cell_.exact() || cell_.spec.latent) {
    return 4e-5 * most;
  }
  if (values.kind != CodecKind::kDense) {
    return 0x1p-8 * most;
  }
  if (values.format == DenseFormat::kBf16) {
    return 0x1p-9 * most;
  }
  return keys.kind != CodecKind::kDense ? 1e-4 : 4e-6;
}

} // namespace holdfast::conformance
