// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What an adapter's adapter_config.json says: the layout of its tensors, and
// which modules it changes with which rank and scale. Two programs write them,
// PEFT (LoRA alone) and mlx-lm. A setting that could mean anything else than a
// low-rank addition to a matrix is refused, known or not. docs/folders.md.
// Immutable; any thread.
//
// Errors: throws Error, one line that names file and setting.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/models/settings.h"

namespace holdfast {

class AdapterConfig {
 public:
  enum class Layout { kPeft, kMlx };

  /// `where` names the file.
  static AdapterConfig parse(std::string_view json, const std::string& where);

  Layout layout() const {
    return layout_;
  }
  /// The file of its tensors, and that of the other layout.
  const char* tensor_file() const;
  const char* other_tensor_file() const;

  /// Of a module by its name in the model, "model.layers.0.self_attn.q_proj".
  /// Throws where that is not among those that the adapter changes.
  struct Change {
    int64_t rank = 0;
    float scale = 0.0f;
  };
  Change change_of(std::string_view module) const;
  /// Throws where a layer of a model of `layers` is not among the last ones
  /// that the adapter changes.
  void require_layer(std::string_view module, int64_t layers) const;

 private:
  explicit AdapterConfig(Settings settings);
  void read_peft();
  void read_mlx();
  Change peft_change(std::string_view module) const;
  /// The value that the pattern which fits the module has; none: "".
  std::string
  pattern_of(const std::string& prefix, std::string_view module) const;
  void require_target(std::string_view module) const;

  Settings settings_;
  Layout layout_ = Layout::kPeft;
  const char* targets_name_ = ""; // of the setting
  std::vector<std::string> targets_; // empty: whatever there are tensors of
  int64_t last_layers_ = 0; // 0: all
};

} // namespace holdfast
