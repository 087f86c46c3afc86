// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A WeightSource of settings without tensors: what a family reads before it
// asks for one. One thread.

#pragma once

#include <map>
#include <string>

#include "holdfast/models/weight_source.h"

namespace holdfast::test {

using SettingMap = std::map<std::string, Setting, std::less<>>;

class SettingsSource : public WeightSource {
 public:
  SettingsSource(ModelConfig config, SettingMap settings)
      : config_(std::move(config)),
        settings_("config.json", std::move(settings)) {}

  const ModelConfig& config() const override {
    return config_;
  }
  const Settings& settings() const override {
    return settings_;
  }
  bool has(std::string_view) const override {
    return false;
  }
  cpu::Weight matrix(std::string_view name, int64_t, int64_t) const override {
    throw Error(ErrorCode::kNotFound, std::string(name));
  }
  std::vector<float> vector(std::string_view name, int64_t) const override {
    throw Error(ErrorCode::kNotFound, std::string(name));
  }

 private:
  const ModelConfig config_;
  const Settings settings_;
};

} // namespace holdfast::test
