// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/attend/read.h"

#include <algorithm>

#include "holdfast/base/check.h"
#include "holdfast/codec/codec_names.h"

namespace holdfast {

namespace {

using Reads = std::vector<const Read*>;

std::string names(std::span<const Read* const> reads) {
  std::string text;
  for (const Read* read : reads) {
    text += (text.empty() ? "" : ", ") + read->name();
  }
  return text;
}

/// "bf16, then t4/t3".
std::string scheme(const LayerRead& layer) {
  std::string text;
  for (const GroupPhase& phase : layer.phases) {
    text +=
        (text.empty() ? "" : ", then ") + names_of(*phase.keys, *phase.values);
  }
  return text;
}

/// Those that the layer's spec names, in its order; all where it names none.
Reads permitted_reads(const LayerRead& layer) {
  const std::span<const Read* const> all = reads_for(layer);
  if (layer.spec.reads.empty()) {
    return {all.begin(), all.end()};
  }
  Reads permitted;
  for (const std::string& wanted : layer.spec.reads) {
    const auto read = std::ranges::find(all, wanted, &Read::name);
    if (read == all.end()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[attend] expected layer " + std::to_string(layer.layer) +
              " to name reads among " + names(all) + ", got " + wanted);
    }
    permitted.push_back(*read);
  }
  return permitted;
}

} // namespace

std::span<const Read* const> reads_for(const LayerRead& layer) {
  static const Read* const reads[] = {&block_read(), &reference_read()};
  static const Read* const latent[] = {&latent_read(), &reference_read()};
  return layer.spec.latent ? std::span(latent) : std::span(reads);
}

Selection select_read(const LayerRead& layer, bool reference) {
  const Reads permitted = permitted_reads(layer);
  std::string reasons;
  for (const Read* read : permitted) {
    const Status status = reference && read != &reference_read()
        ? Status(ErrorCode::kUnsupported, "the reference read was asked for")
        : read->supports(layer);
    if (status.ok()) {
      return {read, read->name() + (reference ? " (asked for)" : reasons)};
    }
    reasons += "; not " + read->name() + ": " + status.text();
  }
  throw Error(
      ErrorCode::kUnsupported,
      "[attend] expected a read of layer " + std::to_string(layer.layer) +
          ", stored as " + scheme(layer) + ", among those that it permits (" +
          names(permitted) + "), got none" + reasons);
}

} // namespace holdfast
