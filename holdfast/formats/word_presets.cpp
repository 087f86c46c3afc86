// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/word_presets.h"

#include <algorithm>

namespace holdfast {

const char* const kGpt2Words =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
    "\\s+(?!\\S)|\\s+";

namespace {

// The patterns of the families' own files.
constexpr const char* kLlama3Words =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr const char* kQwen2Words =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr const char* kQwen35Words =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|"
    "\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|"
    "\\s+";
constexpr const char* kGpt4oWords =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|"
    "\\s+";
constexpr const char* kTekkenWords =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|"
    "\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

struct Preset {
  std::string_view name;
  const char* words;
  bool digits_first = false; // each by itself, before the words
  bool nfc = false;
  bool whole_words = false;
  bool add_bos = false;
};

constexpr Preset kPresets[] = {
    {.name = "gpt-2", .words = nullptr},
    {.name = "phi-2", .words = nullptr},
    {.name = "smollm", .words = nullptr, .digits_first = true},
    {.name = "llama-bpe",
     .words = kLlama3Words,
     .whole_words = true,
     .add_bos = true},
    {.name = "llama-v3",
     .words = kLlama3Words,
     .whole_words = true,
     .add_bos = true},
    {.name = "llama3",
     .words = kLlama3Words,
     .whole_words = true,
     .add_bos = true},
    {.name = "qwen2", .words = kQwen2Words, .nfc = true},
    {.name = "qwen35", .words = kQwen35Words, .nfc = true},
    {.name = "gpt-4o", .words = kGpt4oWords},
    {.name = "tekken",
     .words = kTekkenWords,
     .whole_words = true,
     .add_bos = true},
};

} // namespace

bool apply_word_preset(std::string_view name, BpeSpec& spec) {
  const auto* const preset = std::find_if(
      std::begin(kPresets), std::end(kPresets), [&](const Preset& one) {
        return one.name == name;
      });
  if (preset == std::end(kPresets)) {
    return false;
  }
  if (preset->nfc) {
    spec.normalizers = TextSteps({{.kind = TextStep::Kind::kForm}});
  }
  if (preset->digits_first) {
    spec.words.push_back({SplitPattern::own("\\p{N}")});
  }
  const char* words = preset->words != nullptr ? preset->words : kGpt2Words;
  spec.words.push_back({SplitPattern::compile(words).value()});
  spec.byte_level = true;
  spec.decoder = BpeDecoder::kBytes;
  spec.whole_words = preset->whole_words;
  spec.special.add_bos = preset->add_bos;
  return true;
}

std::string word_preset_names() {
  std::string names;
  for (const Preset& preset : kPresets) {
    names += (names.empty() ? "" : ", ") + std::string(preset.name);
  }
  return names;
}

} // namespace holdfast
