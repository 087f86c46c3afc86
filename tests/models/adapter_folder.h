// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Folders of adapters: that of a small model as mlx-lm wrote it, and others
// made of its tensors, gone with the test. One thread.

#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "mlx/mlx.h"

#include "tests/models/folder_rig.h"

namespace holdfast::test {

inline std::string adapter_folder(const std::string& family) {
  return model_folder(family) + "/adapter";
}

class AdapterFolder {
 public:
  using Json = nlohmann::json;
  using Tensors = std::unordered_map<std::string, mx::array>;

  /// Empty.
  explicit AdapterFolder(const std::string& name)
      : path_(testing::TempDir() + "holdfast-adapter-" + name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~AdapterFolder() {
    std::filesystem::remove_all(path_);
  }
  AdapterFolder(const AdapterFolder&) = delete;
  AdapterFolder& operator=(const AdapterFolder&) = delete;

  const std::string& path() const {
    return path_;
  }
  void write(const std::string& file, const std::string& bytes) const {
    std::ofstream(path_ + "/" + file, std::ios::binary) << bytes;
  }
  void save(const std::string& file, const Tensors& tensors) const {
    mx::save_safetensors(path_ + "/" + file, tensors);
  }

  static Tensors tensors_of(const std::string& family) {
    return mx::load_safetensors(
               adapter_folder(family) + "/adapters.safetensors")
        .first;
  }
  static Json config_of(const std::string& family) {
    std::ifstream file(adapter_folder(family) + "/adapter_config.json");
    return Json::parse(file);
  }

  /// The family's, with tensors of another type.
  void write_mlx(const std::string& family, mx::Dtype dtype) const {
    Tensors tensors;
    for (const auto& [name, array] : tensors_of(family)) {
      tensors.insert_or_assign(name, mx::astype(array, dtype));
    }
    save("adapters.safetensors", tensors);
    write("adapter_config.json", config_of(family).dump());
  }

  /// The family's, as PEFT writes it.
  void write_peft(const std::string& family, mx::Dtype dtype) const {
    Tensors tensors;
    std::set<std::string> targets;
    for (const auto& [name, array] : tensors_of(family)) {
      const size_t kind = name.rfind(".lora_");
      const std::string module = name.substr(0, kind);
      targets.insert(module.substr(module.rfind('.') + 1));
      tensors.insert_or_assign(
          "base_model.model." + module +
              (name.ends_with('a') ? ".lora_A.weight" : ".lora_B.weight"),
          mx::contiguous(mx::astype(mx::transpose(array), dtype)));
    }
    save("adapter_model.safetensors", tensors);
    const Json parameters = config_of(family)["lora_parameters"];
    const int64_t rank = parameters["rank"];
    write(
        "adapter_config.json",
        peft_config(rank, parameters["scale"], targets).dump());
  }

  static Json peft_config(
      int64_t rank,
      double scale,
      const std::set<std::string>& targets) {
    return Json{
        {"peft_type", "LORA"},
        {"task_type", "CAUSAL_LM"},
        {"base_model_name_or_path", "small"},
        {"r", rank},
        {"lora_alpha", scale * static_cast<double>(rank)},
        {"lora_dropout", 0.05},
        {"target_modules", targets},
        {"bias", "none"},
        {"fan_in_fan_out", false},
        {"inference_mode", true},
        {"init_lora_weights", true},
        {"rank_pattern", Json::object()},
        {"alpha_pattern", Json::object()},
        {"use_rslora", false},
        {"use_dora", false},
        {"modules_to_save", nullptr},
        {"layers_to_transform", nullptr},
        {"loftq_config", Json::object()}};
  }

 private:
  const std::string path_;
};

} // namespace holdfast::test
