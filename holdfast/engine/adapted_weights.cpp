// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/adapted_weights.h"

#include <algorithm>
#include <utility>

#include "holdfast/base/quoted_text.h"
#include "holdfast/engine/gguf_names.h"

namespace holdfast {

namespace {

cpu::WeightFormat::Kind kind_of(bool halves) {
  return halves ? cpu::WeightFormat::Kind::kBf16
                : cpu::WeightFormat::Kind::kF32;
}

} // namespace

AdaptedWeights::AdaptedWeights(
    const WeightSource& source,
    const Adapter& adapter,
    std::shared_ptr<Executor> executor)
    : source_(source), adapter_(adapter), executor_(std::move(executor)) {
  adapter_.require_layers(source_.config().layers);
}

const Adapter::Part* AdaptedWeights::find(const std::string& matrix) const {
  constexpr std::string_view kWeight = ".weight";
  std::string module = published_tensor_name(matrix);
  if (!module.ends_with(kWeight)) {
    return nullptr;
  }
  module.resize(module.size() - kWeight.size());
  const auto found = adapter_.parts().find(module);
  if (found == adapter_.parts().end()) {
    return nullptr;
  }
  used_.insert(module);
  return &found->second;
}

std::optional<LowRank> AdaptedWeights::low_rank(
    std::span<const MatrixName> matrices,
    int64_t k) const {
  struct Place {
    const Adapter::Part* part = nullptr;
    int64_t first = 0; // of its ranks among all
  };
  std::vector<Place> places;
  int64_t ranks = 0;
  for (const MatrixName& matrix : matrices) {
    if (matrix.name.empty()) {
      places.push_back(places.back());
      continue;
    }
    places.push_back({find(matrix.name), ranks});
    ranks += places.back().part ? places.back().part->change.rank : 0;
  }
  if (ranks == 0) {
    return std::nullopt;
  }
  LowRank result;
  for (size_t i = 0; i < places.size(); ++i) {
    const Adapter::Part* part = places[i].part;
    auto& ups = result.up.weights;
    result.up.scales.push_back(part ? part->change.scale : 1.0f);
    if (matrices[i].name.empty()) {
      ups.push_back(ups.back());
      continue;
    }
    ups.push_back(std::make_shared<const cpu::Weight>(
        pack_up(part, matrices[i].n, places[i].first, ranks)));
    if (part == nullptr) {
      continue;
    }
    const Adapter::Values down = adapter_.down(*part, k);
    result.down.weights.push_back(
        std::make_shared<const cpu::Weight>(cpu::Weight::pack_values(
            kind_of(down.halves),
            part->change.rank,
            k,
            [&](int64_t row, float* values) {
              std::copy_n(down.rows.data() + row * k, k, values);
            },
            *executor_)));
  }
  return result;
}

cpu::Weight AdaptedWeights::pack_up(
    const Adapter::Part* part,
    int64_t n,
    int64_t first,
    int64_t ranks) const {
  const Adapter::Values up = part ? adapter_.up(*part, n)
                                  : Adapter::Values{.rows = {}, .halves = true};
  const int64_t rank = part ? part->change.rank : 0;
  return cpu::Weight::pack_values(
      kind_of(up.halves),
      n,
      ranks,
      [&](int64_t row, float* values) {
        std::fill_n(values, ranks, 0.0f);
        std::copy_n(up.rows.data() + row * rank, rank, values + first);
      },
      *executor_);
}

void AdaptedWeights::require_all_used() const {
  for (const auto& [module, part] : adapter_.parts()) {
    if (!used_.contains(module)) {
      throw adapter_.refusal(
          part.down.name,
          "a matrix that family \"" + escaped_text(config().family) +
              "\" has, and of which an adapter may be applied (no experts, no "
              "embeddings)",
          escaped_text(module),
          ErrorCode::kUnsupported);
    }
  }
}

} // namespace holdfast
