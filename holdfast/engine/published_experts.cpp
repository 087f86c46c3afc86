// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/published_experts.h"

namespace holdfast {

std::optional<PublishedRows> published_rows(std::string_view name) {
  constexpr std::string_view kExperts = ".mlp.experts.";
  const size_t at = name.find(kExperts);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const size_t part = at + kExperts.size();
  const std::string_view rest = name.substr(part);
  const std::string_view matrix = rest.substr(0, rest.find('.'));
  const std::string_view kind = rest.substr(matrix.size());
  if (kind != ".weight" && kind != ".bias") {
    return std::nullopt;
  }
  PublishedRows rows;
  std::string stem(name.substr(0, part));
  if (matrix == "gate_proj" || matrix == "up_proj") {
    stem += "gate_up_proj";
    rows.first = matrix == "up_proj" ? 1 : 0;
    rows.step = 2;
  } else if (matrix == "down_proj") {
    stem += matrix;
  } else {
    return std::nullopt;
  }
  rows.blocks = stem + "_blocks";
  rows.scales = stem + "_scales";
  rows.bias = stem + "_bias";
  return rows;
}

} // namespace holdfast
