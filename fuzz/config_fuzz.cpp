// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Reads arbitrary bytes as a model folder's config.json: its settings, what
// every family needs of them, and how its weights are quantised; and as an
// adapter's: what it changes, and how.

#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "holdfast/engine/adapter_config.h"
#include "holdfast/engine/folder_config.h"
#include "holdfast/engine/mlx_quantization.h"

namespace {

using namespace holdfast;

void require_line(const Error& error) {
  const std::string_view text = error.what();
  if (text.find("FILE: ") == text.npos || text.find('\n') != text.npos ||
      text.size() > 800) {
    std::abort();
  }
}

/// Each setting is read as every type: as one of them, or refused.
void read_all(const Settings& settings) {
  for (const std::string& name : settings.names("")) {
    const auto tried = [&](auto read) {
      try {
        read();
      } catch (const Error& error) {
        require_line(error);
      }
    };
    tried([&] { settings.size(name); });
    tried([&] { settings.number(name); });
    tried([&] { settings.flag(name, false); });
    tried([&] { settings.text(name); });
    tried([&] { settings.texts(name); });
    tried([&] { settings.numbers(name); });
  }
}

void read_adapter(std::string_view json) {
  try {
    const AdapterConfig config = AdapterConfig::parse(json, "FILE");
    for (const char* module :
         {"model.layers.0.self_attn.q_proj", "lm_head", "layers.", ""}) {
      const AdapterConfig::Change change = config.change_of(module);
      if (change.rank < 1 || !std::isfinite(change.scale)) {
        std::abort();
      }
      config.require_layer(module, 2);
    }
  } catch (const Error& error) {
    require_line(error);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_adapter({reinterpret_cast<const char*>(data), size});
  try {
    const Settings settings = parse_folder_settings(
        {reinterpret_cast<const char*>(data), size}, "FILE");
    read_all(settings);
    const MlxQuantization quantization(settings);
    for (const char* module : {"layers.0.mlp.up_proj", "lm_head"}) {
      if (const auto kind = quantization.of(module);
          kind && (kind->bits < 2 || kind->bits > 8 || kind->group % 32 != 0)) {
        std::abort();
      }
    }
    const ModelConfig config = folder_model_config(settings);
    if (config.head_dim < 1 || config.query_heads % config.kv_heads != 0) {
      std::abort();
    }
  } catch (const Error& error) {
    require_line(error);
  }
  return 0;
}
