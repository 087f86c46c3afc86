// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/attend/read.h"

#include "holdfast/base/check.h"

namespace holdfast {

std::span<const Read* const> reads_for(const LayerRead& layer) {
  static const Read* const reads[] = {&block_read(), &reference_read()};
  static const Read* const latent[] = {&latent_read(), &reference_read()};
  return layer.spec.latent ? std::span(latent) : std::span(reads);
}

Selection select_read(const LayerRead& layer, bool reference) {
  if (reference) {
    reference_read().supports(layer).check();
    return {&reference_read(), reference_read().name() + " (asked for)"};
  }
  std::string reasons;
  for (const Read* read : reads_for(layer)) {
    const Status status = read->supports(layer);
    if (status.ok()) {
      return {read, read->name() + reasons};
    }
    reasons += "; not " + read->name() + ": " + status.text();
  }
  throw Error(
      ErrorCode::kUnsupported,
      "[attend] expected a read for layer " + std::to_string(layer.layer) +
          ", got none" + reasons);
}

} // namespace holdfast
