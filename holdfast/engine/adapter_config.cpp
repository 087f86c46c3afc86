// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/adapter_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "holdfast/base/quoted_text.h"
#include "holdfast/engine/json_settings.h"

namespace holdfast {

namespace {

constexpr const char* kMlxKeys = "lora_parameters.keys";
constexpr const char* kMlxPart = "lora_parameters.";

// Of PEFT: read here, or without a part in what the tensors mean.
// "fan_in_fan_out" tells how the base's own matrix lies.
constexpr std::string_view kPeftFields[] = {
    "alpha_pattern",
    "auto_mapping",
    "base_model_name_or_path",
    "bias",
    "corda_config",
    "ensure_weight_tying",
    "eva_config",
    "exclude_modules",
    "fan_in_fan_out",
    "inference_mode",
    "init_lora_weights",
    "layers_pattern",
    "layers_to_transform",
    "loftq_config",
    "lora_alpha",
    "lora_dropout",
    "lora_ga_config",
    "megatron_core",
    "peft_type",
    "peft_version",
    "qalora_group_size",
    "r",
    "rank_pattern",
    "revision",
    "target_modules",
    "task_type",
    "use_rslora"};

// Of mlx-lm's "lora_parameters". Beside these stands how it was trained.
constexpr std::string_view kMlxFields[] =
    {"alpha", "dropout", "keys", "rank", "scale"};

// Ways to begin that leave the base's weights as they are.
constexpr std::string_view kPlainInitial[] = {
    "eva",
    "gaussian",
    "orthogonal",
    "true"};

template <size_t N>
bool is_one_of(const std::string_view (&all)[N], std::string_view name) {
  return std::ranges::find(all, name) != std::end(all);
}

/// Whether the name ends with the words of `part`, cut at dots.
bool ends_with_words(std::string_view name, std::string_view part) {
  return name == part ||
      (name.size() > part.size() && name.ends_with(part) &&
       name[name.size() - part.size() - 1] == '.');
}

/// No more than the characters of names, so that it means only itself.
bool is_plain_name(std::string_view text) {
  constexpr size_t kMost = 256;
  return !text.empty() && text.size() <= kMost &&
      std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
            (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
      });
}

/// N of "...layers.N....", where there is one.
std::optional<int64_t> layer_of(std::string_view module) {
  constexpr std::string_view kLayers = "layers.";
  const size_t at = module.find(kLayers);
  if (at == module.npos || (at > 0 && module[at - 1] != '.')) {
    return std::nullopt;
  }
  int64_t layer = 0;
  const char* begin = module.data() + at + kLayers.size();
  const char* end = module.data() + module.size();
  const auto [stop, error] = std::from_chars(begin, end, layer);
  return error == std::errc() && stop != end && *stop == '.'
      ? std::optional(layer)
      : std::nullopt;
}

/// "self_attn.q_proj" of "model.layers.3.self_attn.q_proj".
std::string_view within_layer(std::string_view module) {
  constexpr std::string_view kLayers = "layers.";
  const size_t at = module.find(kLayers);
  const size_t dot =
      at == module.npos ? at : module.find('.', at + kLayers.size());
  return dot == module.npos ? std::string_view() : module.substr(dot + 1);
}

} // namespace

AdapterConfig
AdapterConfig::parse(std::string_view json, const std::string& where) {
  return AdapterConfig(Settings(where, parse_json_settings(json, where)));
}

AdapterConfig::AdapterConfig(Settings settings)
    : settings_(std::move(settings)) {
  const bool peft = settings_.has("peft_type");
  const bool mlx =
      settings_.has("lora_parameters") || settings_.has("fine_tune_type");
  if (peft == mlx) {
    throw settings_.refusal(
        "peft_type",
        "it, as PEFT writes it, or fine_tune_type and lora_parameters, as "
        "mlx-lm does",
        peft ? "both" : "neither",
        ErrorCode::kUnsupported);
  }
  peft ? read_peft() : read_mlx();
}

const char* AdapterConfig::tensor_file() const {
  return layout_ == Layout::kPeft ? "adapter_model.safetensors"
                                  : "adapters.safetensors";
}

const char* AdapterConfig::other_tensor_file() const {
  return layout_ == Layout::kPeft ? "adapters.safetensors"
                                  : "adapter_model.safetensors";
}

void AdapterConfig::read_peft() {
  const auto require = [&](const char* name, const char* expected) {
    const std::string got = settings_.text(name, expected);
    if (got != expected) {
      throw settings_.refusal(
          name, expected, quoted_text(got), ErrorCode::kUnsupported);
    }
  };
  layout_ = Layout::kPeft;
  require("peft_type", "LORA");
  require("bias", "none");
  for (const std::string& name : settings_.names("")) {
    const bool known = is_one_of(
        kPeftFields, std::string_view(name).substr(0, name.find('.')));
    if (!known && !settings_.is_nothing(name)) {
      throw settings_.refusal(
          escaped_text(name),
          "no more than low-rank additions to matrices (none of it, null or "
          "false)",
          "something",
          ErrorCode::kUnsupported);
    }
  }
  const char* initial = "init_lora_weights";
  const std::string begun =
      settings_.is_flag(initial) ? "true" : settings_.text(initial, "true");
  if (!is_one_of(kPlainInitial, begun)) {
    throw settings_.refusal(
        initial,
        "a beginning that leaves the base's weights (true, false, gaussian, "
        "orthogonal, eva)",
        quoted_text(begun),
        ErrorCode::kUnsupported);
  }
  targets_name_ = "target_modules"; // a word is a pattern: see the tensors
  if (settings_.has(targets_name_) && !settings_.is_text(targets_name_)) {
    targets_ = settings_.texts(targets_name_);
  }
  settings_.size("r");
  settings_.number("lora_alpha");
}

void AdapterConfig::read_mlx() {
  layout_ = Layout::kMlx;
  const std::string kind = settings_.text("fine_tune_type", "lora");
  if (kind != "lora") {
    throw settings_.refusal(
        "fine_tune_type", "lora", quoted_text(kind), ErrorCode::kUnsupported);
  }
  for (const std::string& name : settings_.names(kMlxPart)) {
    const auto field =
        std::string_view(name).substr(std::string_view(kMlxPart).size());
    if (!is_one_of(kMlxFields, field) && !settings_.is_nothing(name)) {
      throw settings_.refusal(
          escaped_text(name),
          "rank, scale, dropout and keys alone",
          "something",
          ErrorCode::kUnsupported);
    }
  }
  targets_name_ = kMlxKeys;
  if (settings_.has(kMlxKeys)) {
    targets_ = settings_.texts(kMlxKeys);
  }
  // Of no layers, or less, mlx-lm changes all.
  const double last = settings_.number("num_layers");
  last_layers_ =
      last > 0 ? static_cast<int64_t>(std::min(last, 1e6)) : int64_t{0};
  settings_.size("lora_parameters.rank");
  settings_.number("lora_parameters.scale");
}

AdapterConfig::Change AdapterConfig::change_of(std::string_view module) const {
  require_target(module);
  const Change change = layout_ == Layout::kPeft
      ? peft_change(module)
      : Change{
            .rank = settings_.size("lora_parameters.rank"),
            .scale =
                static_cast<float>(settings_.number("lora_parameters.scale"))};
  if (change.rank < 1) {
    throw settings_.refusal(
        layout_ == Layout::kPeft ? "r" : "lora_parameters.rank",
        "a rank of at least 1 for " + escaped_text(module),
        "0");
  }
  if (!std::isfinite(change.scale)) {
    throw settings_.refusal(
        layout_ == Layout::kPeft ? "lora_alpha" : "lora_parameters.scale",
        "a scale that fits f32",
        "a larger one");
  }
  return change;
}

AdapterConfig::Change
AdapterConfig::peft_change(std::string_view module) const {
  const std::string rank_name = pattern_of("rank_pattern", module);
  const std::string alpha_name = pattern_of("alpha_pattern", module);
  const int64_t rank = settings_.size(rank_name.empty() ? "r" : rank_name);
  const double alpha =
      settings_.number(alpha_name.empty() ? "lora_alpha" : alpha_name);
  const auto width = static_cast<double>(rank);
  const bool by_root = settings_.flag("use_rslora", false);
  return {
      .rank = rank,
      .scale =
          static_cast<float>(alpha / (by_root ? std::sqrt(width) : width))};
}

std::string AdapterConfig::pattern_of(
    const std::string& prefix,
    std::string_view module) const {
  if (settings_.has(prefix) && !settings_.is_object(prefix)) {
    throw settings_.refusal(prefix, "an object", "something else");
  }
  std::string fits;
  for (const std::string& name : settings_.names(prefix + ".")) {
    const auto pattern = std::string_view(name).substr(prefix.size() + 1);
    if (!is_plain_name(pattern)) {
      throw settings_.refusal(
          prefix,
          "names of modules, or how they end",
          quoted_text(pattern),
          ErrorCode::kUnsupported);
    }
    if (!ends_with_words(module, pattern)) {
      continue;
    }
    if (!fits.empty()) { // which is the first is not kept
      throw settings_.refusal(
          prefix,
          "one that fits " + escaped_text(module),
          fits.substr(prefix.size() + 1) + " and " + std::string(pattern),
          ErrorCode::kUnsupported);
    }
    fits = name;
  }
  return fits;
}

void AdapterConfig::require_target(std::string_view module) const {
  const bool peft = layout_ == Layout::kPeft;
  const bool named = targets_.empty() ||
      std::ranges::any_of(targets_, [&](const std::string& target) {
                       return peft
                           ? ends_with_words(module, target)
                           : target == module || target == within_layer(module);
                     });
  if (!named) {
    throw settings_.refusal(
        targets_name_,
        "the modules that there are tensors of",
        "none that is " + escaped_text(module));
  }
}

void AdapterConfig::require_layer(std::string_view module, int64_t layers)
    const {
  const auto layer = layer_of(module);
  const bool by_its_name =
      std::ranges::find(targets_, module) != targets_.end();
  if (last_layers_ > 0 && layer && *layer < layers - last_layers_ &&
      !by_its_name) {
    throw settings_.refusal(
        "num_layers",
        "at least " + std::to_string(layers - *layer) + " for " +
            escaped_text(module),
        std::to_string(last_layers_));
  }
}

} // namespace holdfast
