// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Every family with every registered codec, always and from a position on: the
// product that suites over whole models run. A new codec joins by itself, a new
// family by its name. One thread.

#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "tests/models/folder_rig.h"
#include "tests/models/random_source.h"

namespace holdfast::test {

/// Of a family under its adapter.
inline constexpr std::string_view kAdapted = "_adapted";

/// A family's small model; gemma3's heads are of a size that every codec fits.
/// Under adapters those with matrices apart and with fused ones.
inline std::vector<std::string> all_families() {
  std::vector<std::string> families{"gemma3"};
  families.insert(families.end(), std::begin(kFamilies), std::end(kFamilies));
  for (const char* family : {"llama", "phi3"}) {
    families.push_back(std::string(family).append(kAdapted));
  }
  return families;
}

/// One of each family, loaded once.
inline const Model& model_of(const std::string& family) {
  static const Runtime runtime{
      std::make_shared<Executor>(2), best_kernel_path()};
  static std::map<std::string, std::unique_ptr<WeightSource>> sources;
  static std::map<std::string, std::unique_ptr<Model>> models;
  if (!models.contains(family)) {
    auto& source = sources[family];
    const bool adapted = family.ends_with(kAdapted);
    const std::string folder = model_folder(
        family.substr(0, family.size() - (adapted ? kAdapted.size() : 0)));
    if (family == "gemma3") {
      ModelConfig config = small_gemma3();
      config.layers = 6; // the last is full
      config.hidden = 64;
      config.ffn = 96;
      config.query_heads = 2;
      config.kv_heads = 1;
      config.head_dim = 128;
      config.vocab = 128;
      source = std::make_unique<RandomSource>(
          config,
          cpu::WeightFormat{cpu::WeightFormat::Kind::kCodes, 4, 32, true},
          *runtime.executor);
    } else {
      source = std::make_unique<FolderWeights>(folder, runtime.executor);
    }
    models[family] = make_chosen_model(
        *source, {.adapter = adapted ? folder + "/adapter" : ""}, runtime);
  }
  return *models[family];
}

struct Choice {
  std::string family;
  const Codec* codec;
  bool changes; // bf16 before some position
};

inline std::ostream& operator<<(std::ostream& out, const Choice& choice) {
  return out << choice.family << "_" << choice.codec->name()
             << (choice.changes ? "_later" : "");
}

inline std::string name_of(const testing::TestParamInfo<Choice>& info) {
  std::ostringstream text;
  text << info.param;
  std::string name = text.str();
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(c) && c != '_'; }, '_');
  return name;
}

inline std::vector<Choice> choices_of(const std::string& family) {
  std::vector<Choice> all;
  for (const Codec* codec : all_codecs()) {
    all.push_back({family, codec, false});
    if (std::string(codec->name()) != "bf16") {
      all.push_back({family, codec, true});
    }
  }
  return all;
}

/// Whether llama, which the same decoder runs (models/decoder.h), stands for
/// the family where state is stored and read again. A new family is none of
/// them.
inline bool is_like_llama(const std::string& family) {
  const std::set<std::string> alike{
      "llama_biased",
      "mistral",
      "qwen2",
      "qwen3",
      "phi3",
      "gemma2",
      "gemma3_text",
      "qwen3_moe",
      "llama_adapted",
      "phi3_adapted"};
  return alike.contains(family);
}

/// Every codec, but one a kind besides the dense ones for families like llama.
inline std::vector<Choice> every_choice() {
  std::vector<Choice> all;
  for (const std::string& family : all_families()) {
    for (const Choice& choice : choices_of(family)) {
      const std::string codec = choice.codec->name();
      if (!is_like_llama(family) || codec == "q4g32" || codec == "t4" ||
          choice.codec->form().kind == CodecKind::kDense) {
        all.push_back(choice);
      }
    }
  }
  return all;
}

/// bf16 at first and these from `start` on, or these always.
inline std::vector<LayerPhase>
phases_of(const Choice& choice, const LayerPhase& last, int64_t start) {
  if (!choice.changes) {
    return always(last.keys, last.values);
  }
  const Codec* dense = find_codec("bf16").value();
  auto phases = always(dense, dense);
  phases.push_back(
      {.keys = last.keys, .values = last.values, .start = Position(start)});
  return phases;
}

/// The codec in every layer, for keys and values.
inline StateOptions options_of(const Choice& choice, int64_t start) {
  StateOptions options;
  options.layers = model_of(choice.family).layers();
  options.precision.phases =
      phases_of(choice, {.keys = choice.codec, .values = choice.codec}, start);
  options.runtime = {std::make_shared<Executor>(2), best_kernel_path()};
  return options;
}

/// The codec for the keys and for the values of each layer whose heads it fits,
/// bf16 for others; false where it fits none.
inline bool place_where_it_fits(
    StateOptions& options,
    const Choice& choice,
    int64_t start) {
  const Codec* dense = find_codec("bf16").value();
  bool placed = false;
  for (int64_t i = 0; i < std::ssize(options.layers); ++i) {
    const auto* spec =
        std::get_if<AttentionSpec>(&options.layers[static_cast<size_t>(i)]);
    if (spec == nullptr || spec->donor) {
      continue;
    }
    const bool keys =
        choice.codec->supports(ChannelRole::kKeys, spec->key_dim).ok();
    const bool values =
        choice.codec->supports(ChannelRole::kValues, spec->value_dim).ok();
    placed = placed || keys || values;
    options.precision.layers[i] = phases_of(
        choice,
        {.keys = keys ? choice.codec : dense,
         .values = values ? choice.codec : dense},
        start);
  }
  return placed;
}

} // namespace holdfast::test
