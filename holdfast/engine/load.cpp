// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/load.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/base/classic_stream.h"
#include "holdfast/engine/adapted_weights.h"
#include "holdfast/engine/folder_weights.h"
#include "holdfast/engine/gguf_ends.h"
#include "holdfast/engine/kv_config.h"
#include "holdfast/engine/model_folder.h"
#include "holdfast/formats/chat_template.h"
#include "holdfast/formats/gguf_tokenizer.h"
#include "holdfast/state/foreign_bits.h"

namespace holdfast {

namespace {

/// The layers as a policy sees them.
std::vector<KvLayer> kv_layers(std::span<const LayerSpec> layers) {
  std::vector<KvLayer> result;
  for (const LayerSpec& layer : layers) {
    const auto* attention = std::get_if<AttentionSpec>(&layer);
    if (attention == nullptr) {
      result.push_back({.group = "recurrent"});
      continue;
    }
    const char* group = attention->visibility.window > 0 ? "sliding" : "full";
    result.push_back(
        attention->donor ? KvLayer{.group = group}
                         : KvLayer{
                               .group = group,
                               .key_dim = attention->key_dim,
                               .value_dim = attention->value_dim});
  }
  return result;
}

/// What decides bits and no layer names. Numbers in hex, so that equal text
/// means equal bits.
std::string config_text(const ModelConfig& config) {
  std::ostringstream text = classic_stream();
  text << std::hexfloat << config.family << ", " << config.layers
       << " layers, hidden " << config.hidden << ", ffn " << config.ffn
       << ", vocab " << config.vocab << ", eps " << config.norm_eps << ", rope "
       << config.rope_base << " / " << config.rope_base_local << " * "
       << config.rope_scale;
  return text.str();
}

/// Runs `make` so that its errors name the file, or the other one.
template <class F>
auto naming(const std::string& path, F make, const std::string& other = {}) {
  try {
    return make();
  } catch (const Error& error) {
    const std::string text = error.what();
    const bool named = text.find(path) != std::string::npos ||
        (!other.empty() && text.find(other) != std::string::npos);
    throw Error(error.code(), named ? text : path + ": " + text);
  }
}

std::unique_ptr<const Model> make_adapted(
    const WeightSource& weights,
    const std::optional<Adapter>& adapter,
    const Runtime& runtime) {
  if (!adapter) {
    return make_model(weights, runtime);
  }
  const AdaptedWeights adapted(weights, *adapter, runtime.executor);
  auto model = make_model(adapted, runtime);
  adapted.require_all_used();
  return model;
}

std::unique_ptr<const Model> make_gguf_model(
    const GgufFile& file,
    const std::optional<Adapter>& adapter,
    const Runtime& runtime,
    const GgufWeights::Progress& progress) {
  const GgufWeights weights(file, runtime.executor, progress);
  auto model = make_adapted(weights, adapter, runtime);
  weights.require_all_read();
  return model;
}

std::unique_ptr<const Model> make_folder_model(
    const FolderWeights& weights,
    const std::optional<Adapter>& adapter,
    const Runtime& runtime) {
  auto model = make_adapted(weights, adapter, runtime);
  weights.require_all_read();
  return model;
}

} // namespace

ModelFile open_model_file(const std::string& path) {
  if (is_model_folder(path)) {
    return naming(path, [&] { return open_model_folder(path); });
  }
  return naming(path, [&] {
    auto file = std::make_unique<const GgufFile>(GgufFile::open(path).value());
    Tokenizer tokenizer = read_gguf_tokenizer(*file).value();
    std::vector<int32_t> ends = gguf_ends(*file, tokenizer);
    std::string chat(file->text(kTemplateKey).value_or(""));
    std::vector<ModelPart> parts;
    for (int i = 0; i < file->parts(); ++i) {
      const GgufFile& part = file->part(i);
      parts.push_back(
          {.name = std::filesystem::path(part.name()).filename(),
           .path = part.mapping()->path(),
           .identity = part.mapping()->identity()});
    }
    return ModelFile{
        .file = std::move(file),
        .tokenizer = std::move(tokenizer),
        .end_tokens = std::move(ends),
        .chat_template = std::move(chat),
        .parts = std::move(parts)};
  });
}

std::unique_ptr<const Model> load_weights(
    const std::string& path,
    const Runtime& runtime,
    const GgufWeights::Progress& progress) {
  return naming(path, [&]() -> std::unique_ptr<const Model> {
    if (is_model_folder(path)) {
      const FolderWeights weights(path, runtime.executor, progress);
      return make_folder_model(weights, std::nullopt, runtime);
    }
    const GgufFile file = GgufFile::open(path).value();
    return make_gguf_model(file, std::nullopt, runtime, progress);
  });
}

LoadedModel load_model(
    const std::string& path,
    const Runtime& runtime,
    const GgufWeights::Progress& progress,
    const std::string& adapter) {
  std::optional<Adapter> applied;
  if (!adapter.empty()) {
    applied.emplace(adapter);
  }
  ModelFile source = open_model_file(path);
  const auto load = [&] {
    std::unique_ptr<const Model> model;
    if (source.file) {
      model = make_gguf_model(*source.file, applied, runtime, progress);
      // What becomes of the file from here on changes nothing.
      source.file.reset();
    } else {
      const FolderWeights weights(path, runtime.executor, progress);
      model = make_folder_model(weights, applied, runtime);
      add_tensor_files(weights, source);
    }
    return LoadedModel{
        std::move(source),
        runtime,
        std::move(model),
        applied ? applied->digest() : std::string()};
  };
  return naming(path, load, adapter);
}

KvPolicy StateChoice::policy() const {
  const KvChoice usual = parse_kv_choice(kv).value();
  if (kv_config.empty()) {
    return {.usual = usual, .groups = {}, .layers = {}};
  }
  return read_kv_config(kv_config, usual).value();
}

std::unique_ptr<State>
make_state(const LoadedModel& loaded, const StateChoice& choice) {
  std::vector<LayerSpec> layers = loaded.model->layers();
  std::vector<Signature::Field> identity{
      {"config", config_text(loaded.model->config())}};
  if (!choice.weights.empty()) { // weights, tokenizer and all
    identity.insert(identity.begin(), {"model file", choice.weights});
  }
  if (!loaded.adapter.empty()) {
    identity.push_back({"adapter", loaded.adapter});
  }
  if (!choice.foreign.empty()) {
    identity.push_back({std::string(kForeignField), choice.foreign});
  }
  const auto described = kv_layers(layers);
  return std::make_unique<State>(StateOptions{
      .layers = std::move(layers),
      .precision = precision_of(choice.policy(), described),
      .max_bytes = choice.max_bytes,
      .runtime = loaded.runtime,
      .reference_read = choice.reference_read,
      .identity = std::move(identity)});
}

} // namespace holdfast
