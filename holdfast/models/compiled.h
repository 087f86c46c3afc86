// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model whose short steps are traced once a layout and replayed: steps of
// fewer than 64 tokens with an output a token, as in decoding and in checking
// drafts. A layout is a state (its siblings included) and a number of tokens.
// Other steps go to the model as they are.
//
// Engine thread. The bits are the model's own.

#pragma once

#include <cstdint>
#include <memory>

#include "holdfast/models/model.h"

namespace holdfast {

class CompiledModel : public Model {
 public:
  /// `model` outlives it.
  explicit CompiledModel(const Model& model);
  ~CompiledModel() override;

  const ModelConfig& config() const override;
  std::vector<LayerSpec> layers() const override;
  Bytes weight_bytes() const override;
  /// Throws kUnsupported where a layer of the state has the reference read.
  std::optional<mlx::core::array> forward(
      Step& step,
      std::span<const int32_t> tokens,
      std::span<const int32_t> outputs) const override;

  /// Graphs recorded so far.
  int64_t traces() const;
  /// Operations of the graph of that many tokens that was used last, or 0.
  int64_t primitives(int64_t tokens) const;

 private:
  struct Graphs;
  const Model& model_;
  std::unique_ptr<Graphs> graphs_;
};

} // namespace holdfast
