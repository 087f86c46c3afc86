// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/folder_weights.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include <nlohmann/json.hpp>

#include "mlx/io.h"
#include "mlx/transforms.h"

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;
namespace mx = mlx::core;
using nlohmann::json;
using Values = std::map<std::string, Setting, std::less<>>;

Setting list_of(const json& array) {
  std::vector<std::string> words;
  std::vector<double> numbers;
  for (const json& item : array) {
    if (item.is_string()) {
      words.push_back(item.get<std::string>());
    } else if (item.is_number()) {
      numbers.push_back(item.get<double>());
    } else {
      return UnusableSetting();
    }
  }
  if (!words.empty() && !numbers.empty()) {
    return UnusableSetting();
  }
  return numbers.empty() ? Setting(std::move(words))
                         : Setting(std::move(numbers));
}

/// Objects are flattened: "outer.inner". Their own name has no usable value.
void add_values(const json& object, const std::string& prefix, Values& values) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix + key;
    if (value.is_object()) {
      values[name] = UnusableSetting();
      add_values(value, name + ".", values);
    } else if (value.is_boolean()) {
      values[name] = value.get<bool>();
    } else if (value.is_number_float()) {
      values[name] = value.get<double>();
    } else if (value.is_number_unsigned()) {
      const auto number = value.get<uint64_t>();
      values[name] = number > uint64_t{INT64_MAX}
          ? Setting(static_cast<double>(number))
          : Setting(static_cast<int64_t>(number));
    } else if (value.is_number_integer()) {
      values[name] = value.get<int64_t>();
    } else if (value.is_string()) {
      values[name] = value.get<std::string>();
    } else if (value.is_array()) {
      values[name] = list_of(value);
    } else {
      values[name] = std::monostate();
    }
  }
}

/// A multimodal model's language part is its "text_config"; what that lacks
/// (tied embeddings, the family's name) stands beside it.
Settings read_settings(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw Error(
        ErrorCode::kIo, path + ": expected a file that can be read, got none");
  }
  const json document = json::parse(file, nullptr, false);
  if (!document.is_object()) {
    throw Error(
        ErrorCode::kCorrupt, path + ": expected a JSON object, got none");
  }
  Values values;
  add_values(document, "", values);
  const auto text = document.find("text_config");
  if (text != document.end() && text->is_object()) {
    const Setting family = values["model_type"];
    add_values(*text, "", values);
    values["model_type"] = family;
  }
  return {path, std::move(values)};
}

ModelConfig config_of(const Settings& settings, const std::string& folder) {
  ModelConfig config;
  config.family = settings.text("model_type");
  config.name = fs::path(folder).filename().string();
  config.layers = settings.size("num_hidden_layers");
  config.hidden = settings.size("hidden_size");
  config.ffn = settings.size("intermediate_size", 0);
  config.query_heads = settings.size("num_attention_heads");
  config.kv_heads = settings.size("num_key_value_heads", config.query_heads);
  config.vocab = settings.size("vocab_size");
  config.context = settings.size("max_position_embeddings", 0);
  config.window = settings.size("sliding_window", 0);
  config.norm_eps = settings.number("rms_norm_eps");
  for (const auto& [name, value] :
       {std::pair("num_hidden_layers", config.layers),
        std::pair("hidden_size", config.hidden),
        std::pair("num_attention_heads", config.query_heads),
        std::pair("num_key_value_heads", config.kv_heads),
        std::pair("vocab_size", config.vocab)}) {
    if (value < 1) {
      throw settings.refusal(name, "at least 1", "0");
    }
  }
  config.head_dim =
      settings.size("head_dim", config.hidden / config.query_heads);
  return config;
}

std::string canonical(std::string name) {
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view prefix : {"language_model.", "model."}) {
      if (name.starts_with(prefix)) {
        name.erase(0, prefix.size());
        cut = true;
      }
    }
  }
  return name;
}

std::string text_of(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + "]";
}

/// `count` values from element `first` on, as f32.
void read_floats(
    const mx::array& tensor,
    int64_t first,
    int64_t count,
    float* values) {
  if (tensor.dtype() == mx::float32) {
    std::copy_n(tensor.data<float>() + first, count, values);
    return;
  }
  const auto* bits =
      reinterpret_cast<const uint16_t*>(tensor.data<mx::bfloat16_t>()) + first;
  const bool bf16 = tensor.dtype() == mx::bfloat16;
  for (int64_t i = 0; i < count; ++i) {
    values[i] = bf16 ? bf16_to_f32(bits[i]) : f16_to_f32(bits[i]);
  }
}

} // namespace

FolderWeights::FolderWeights(
    const std::string& folder,
    std::shared_ptr<Executor> executor)
    : folder_(folder),
      executor_(std::move(executor)),
      settings_(read_settings(folder + "/config.json")),
      config_(config_of(settings_, folder)) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".safetensors") {
      files.push_back(entry.path().string());
    }
  }
  if (error || files.empty()) {
    throw Error(
        ErrorCode::kIo,
        folder + ": expected a folder with *.safetensors files, got none");
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    add_file(file);
  }
}

void FolderWeights::add_file(const std::string& path) {
  std::unordered_map<std::string, mx::array> loaded;
  try {
    loaded = mx::load_safetensors(path, mx::Device::cpu).first;
  } catch (const std::exception& error) {
    throw Error(
        ErrorCode::kCorrupt,
        path + ": expected a safetensors file, got: " + error.what());
  }
  for (auto& [name, array] : loaded) {
    Tensor tensor{
        .array = array, .shape = {array.shape().begin(), array.shape().end()}};
    if (!tensors_.emplace(canonical(name), std::move(tensor)).second) {
      throw Error(
          ErrorCode::kCorrupt,
          std::string(path).append(": expected each tensor once, got ") + name +
              " twice");
    }
  }
}

bool FolderWeights::has(std::string_view name) const {
  return tensors_.contains(std::string(name));
}

FolderWeights::Tensor& FolderWeights::find(std::string_view name) const {
  const auto found = tensors_.find(std::string(name));
  if (found == tensors_.end()) {
    throw Error(
        ErrorCode::kCorrupt,
        folder_ + ": expected tensor " + std::string(name) + ", got none");
  }
  return found->second;
}

std::vector<int64_t> FolderWeights::dims(std::string_view name) const {
  return find(name).shape;
}

mx::array FolderWeights::take(std::string_view name) const {
  Tensor& tensor = find(name);
  const std::string where =
      folder_ + ": tensor " + std::string(name) + ": expected ";
  if (!tensor.array) {
    throw Error(
        ErrorCode::kInternal, where + "to be asked for once, got twice");
  }
  const mx::Dtype dtype = tensor.array->dtype();
  if (dtype != mx::float32 && dtype != mx::bfloat16 && dtype != mx::float16) {
    throw Error(
        ErrorCode::kUnsupported,
        where + "float32, bfloat16 or float16, got another type (quantised?)");
  }
  mx::array array = *std::exchange(tensor.array, std::nullopt);
  try {
    mx::eval({array});
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kIo, where + "its bytes, got: " + error.what());
  }
  return array;
}

void FolderWeights::require_shape(
    std::string_view name,
    const std::vector<int64_t>& shape) const {
  if (const auto got = dims(name); got != shape) {
    throw Error(
        ErrorCode::kCorrupt,
        folder_ + ": tensor " + std::string(name) + ": expected shape " +
            text_of(shape) + ", got " + text_of(got));
  }
}

cpu::Weight FolderWeights::pack(
    const mx::array& tensor,
    int64_t first,
    int64_t n,
    int64_t k) const {
  return cpu::Weight::pack_values(
      tensor.dtype() == mx::bfloat16 ? cpu::WeightFormat::Kind::kBf16
                                     : cpu::WeightFormat::Kind::kF32,
      n,
      k,
      [&](int64_t row, float* values) {
        read_floats(tensor, (first + row) * k, k, values);
      },
      *executor_);
}

cpu::Weight
FolderWeights::matrix(std::string_view name, int64_t n, int64_t k) const {
  require_shape(name, {n, k});
  return pack(take(name), 0, n, k);
}

std::vector<cpu::Weight>
FolderWeights::stack(std::string_view name, int64_t count, int64_t n, int64_t k)
    const {
  if (dims(name).size() == 2) {
    require_shape(name, {count * n, k});
  } else {
    require_shape(name, {count, n, k});
  }
  const mx::array tensor = take(name);
  std::vector<cpu::Weight> matrices;
  for (int64_t i = 0; i < count; ++i) {
    matrices.push_back(pack(tensor, i * n, n, k));
  }
  return matrices;
}

std::vector<float>
FolderWeights::vector(std::string_view name, int64_t n) const {
  int64_t elements = 1;
  const auto got = dims(name);
  for (const int64_t size : got) {
    elements *= size;
  }
  if (elements != n) {
    throw Error(
        ErrorCode::kCorrupt,
        folder_ + ": tensor " + std::string(name) + ": expected " +
            std::to_string(n) + " elements, got shape " + text_of(got));
  }
  std::vector<float> values(static_cast<size_t>(n));
  read_floats(take(name), 0, n, values.data());
  for (const float value : values) {
    if (!std::isfinite(value)) {
      throw Error(
          ErrorCode::kCorrupt,
          folder_ + ": tensor " + std::string(name) +
              ": expected finite numbers, got " + std::to_string(value));
    }
  }
  return values;
}

} // namespace holdfast
