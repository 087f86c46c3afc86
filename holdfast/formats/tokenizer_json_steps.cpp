// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/tokenizer_json_steps.h"

#include <functional>
#include <utility>

#include "holdfast/formats/word_presets.h"

namespace holdfast {
namespace {

constexpr int kMostSteps = 256;

/// {"Regex": ...} or {"String": ...}.
SplitPattern read_pattern(const JsonField& field) {
  field.expect_only({"Regex", "String"});
  const JsonField regex = field["Regex"];
  const JsonField string = field["String"];
  if (regex.is_null() == string.is_null()) {
    field.corrupt("a Regex or a String");
  }
  if (!string.is_null()) {
    if (string.text().empty()) {
      string.corrupt("a text that is not empty");
    }
    return SplitPattern::literal(string.text());
  }
  auto pattern = SplitPattern::compile(regex.text());
  if (!pattern.ok()) {
    regex.unsupported(
        "a pattern that is read here (" + pattern.status().text() + ")");
  }
  return std::move(pattern).value();
}

/// Calls `one` for each part of a Sequence, in order, or for the one part.
void each_part(
    const JsonField& field,
    const char* list,
    const std::function<void(const JsonField&)>& one,
    int& left) {
  if (--left < 0) {
    field.unsupported("at most 256 steps");
  }
  if (field["type"].text() != "Sequence") {
    one(field);
    return;
  }
  if (field.keys().size() != 2) {
    field.unsupported("a Sequence with its list alone");
  }
  for (const JsonField& item : field[list].items()) {
    each_part(item, list, one, left);
  }
}

TextStep read_normalizer(const JsonField& field) {
  using Kind = TextStep::Kind;
  const std::string& type = field["type"].text();
  constexpr std::pair<std::string_view, NormalForm> kForms[] = {
      {"NFC", NormalForm::kNfc},
      {"NFD", NormalForm::kNfd},
      {"NFKC", NormalForm::kNfkc},
      {"NFKD", NormalForm::kNfkd}};
  for (const auto& [name, form] : kForms) {
    if (type == name) {
      field.expect_only({"type"});
      return {.kind = Kind::kForm, .form = form};
    }
  }
  if (type == "Lowercase") {
    field.expect_only({"type"});
    return {.kind = Kind::kLower};
  }
  if (type == "Prepend") {
    field.expect_only({"type", "prepend"});
    return {.kind = Kind::kPrepend, .to = field["prepend"].text()};
  }
  if (type == "Replace") {
    field.expect_only({"type", "pattern", "content"});
    return {
        .kind = Kind::kReplace,
        .to = field["content"].text(),
        .pattern = read_pattern(field["pattern"])};
  }
  if (type == "Strip") {
    field.expect_only({"type", "strip_left", "strip_right"});
    return {
        .kind = Kind::kStrip,
        .left = field["strip_left"].boolean(),
        .right = field["strip_right"].boolean()};
  }
  field["type"].unsupported(
      "a normalizer NFC, NFD, NFKC, NFKD, Lowercase, Prepend, Replace, Strip "
      "or Sequence");
}

SplitBehavior read_behavior(const JsonField& field) {
  constexpr std::pair<std::string_view, SplitBehavior> kBehaviors[] = {
      {"Removed", SplitBehavior::kRemoved},
      {"Isolated", SplitBehavior::kIsolated},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
      {"Contiguous", SplitBehavior::kContiguous}};
  for (const auto& [name, behavior] : kBehaviors) {
    if (field.text() == name) {
      return behavior;
    }
  }
  field.corrupt("a behavior of a split");
}

/// What is put before text is put there before any cut.
void expect_first(const JsonField& field, const BpeSpec& spec) {
  if (!spec.words.empty() || !spec.prefixes.empty()) {
    field.unsupported("what prefixes text as the first step");
  }
}

void read_byte_level(const JsonField& field, BpeSpec& spec) {
  field.expect_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  if (field["add_prefix_space"].boolean_or(true)) {
    expect_first(field, spec);
    spec.prefixes = TextSteps({{.kind = TextStep::Kind::kPrefix, .to = " "}});
  }
  if (field["use_regex"].boolean_or(true)) {
    spec.words.push_back({SplitPattern::compile(kGpt2Words).value()});
  }
  spec.byte_level = true;
}

void read_metaspace(const JsonField& field, BpeSpec& spec) {
  field.expect_only(
      {"type",
       "replacement",
       "add_prefix_space",
       "prepend_scheme",
       "split",
       "str_rep"});
  expect_first(field, spec);
  const std::string mark(kSpaceMark);
  if (field["replacement"].text() != mark) {
    field["replacement"].unsupported("U+2581");
  }
  std::vector<TextStep> steps{
      {.kind = TextStep::Kind::kReplace,
       .to = mark,
       .pattern = SplitPattern::literal(" ")}};
  // Older files say add_prefix_space alone.
  const JsonField scheme = field["prepend_scheme"];
  const std::string when = scheme.is_null()
      ? (field["add_prefix_space"].boolean_or(true) ? "always" : "never")
      : scheme.text();
  if (when == "always" || when == "first") {
    steps.push_back(
        {.kind = TextStep::Kind::kPrefix,
         .to = mark,
         .first_only = when == "first"});
  } else if (when != "never") {
    scheme.corrupt("always, first or never");
  }
  spec.prefixes = TextSteps(std::move(steps));
  if (field["split"].boolean_or(true)) {
    spec.words.push_back(
        {SplitPattern::literal(mark), SplitBehavior::kMergedWithNext});
  }
}

void read_pre_tokenizer(const JsonField& field, BpeSpec& spec) {
  const std::string& type = field["type"].text();
  if (spec.byte_level) {
    field.unsupported("ByteLevel as the last pre-tokenizer");
  }
  if (type == "ByteLevel") {
    read_byte_level(field, spec);
  } else if (type == "Metaspace") {
    read_metaspace(field, spec);
  } else if (type == "Split") {
    field.expect_only({"type", "pattern", "behavior", "invert"});
    spec.words.push_back(
        {read_pattern(field["pattern"]),
         read_behavior(field["behavior"]),
         field["invert"].boolean_or(false)});
  } else if (type == "Digits") {
    field.expect_only({"type", "individual_digits"});
    spec.words.push_back(
        {SplitPattern::own("\\p{N}"),
         field["individual_digits"].boolean() ? SplitBehavior::kIsolated
                                              : SplitBehavior::kContiguous});
  } else {
    field["type"].unsupported(
        "a pre-tokenizer ByteLevel, Metaspace, Split, Digits or Sequence");
  }
}

/// The parts of a decoder with byte fallback, each at most once, in the order
/// in which they are known to run.
struct MarkDecoder {
  bool replace = false;
  bool byte_fallback = false;
  bool fuse = false;
  bool strip = false;
};

void read_mark_decoder(const JsonField& field, MarkDecoder& parts) {
  const std::string& type = field["type"].text();
  if (type == "Replace" && !parts.replace && !parts.byte_fallback) {
    field.expect_only({"type", "pattern", "content"});
    if (field["pattern"]["String"].text() != kSpaceMark ||
        field["content"].text() != " ") {
      field.unsupported("U+2581 replaced by a space");
    }
    parts.replace = true;
  } else if (type == "ByteFallback" && parts.replace && !parts.byte_fallback) {
    field.expect_only({"type"});
    parts.byte_fallback = true;
  } else if (type == "Fuse" && parts.byte_fallback && !parts.fuse) {
    field.expect_only({"type"});
    parts.fuse = true;
  } else if (type == "Strip" && parts.fuse && !parts.strip) {
    field.expect_only({"type", "content", "start", "stop"});
    if (field["content"].text() != " " || field["start"].integer() > 1 ||
        field["stop"].integer() != 0) {
      field.unsupported("at most the first space stripped");
    }
    parts.strip = field["start"].integer() == 1;
  } else {
    field["type"].unsupported(
        "the decoders Replace, ByteFallback, Fuse, Strip in this order");
  }
}

} // namespace

void read_normalizers(const JsonField& field, BpeSpec& spec) {
  if (field.is_null()) {
    return;
  }
  std::vector<TextStep> steps;
  int left = kMostSteps;
  each_part(
      field,
      "normalizers",
      [&](const JsonField& part) { steps.push_back(read_normalizer(part)); },
      left);
  spec.normalizers = TextSteps(std::move(steps));
}

void read_pre_tokenizers(const JsonField& field, BpeSpec& spec) {
  if (field.is_null()) {
    return;
  }
  int left = kMostSteps;
  each_part(
      field,
      "pretokenizers",
      [&](const JsonField& part) { read_pre_tokenizer(part, spec); },
      left);
}

void read_decoders(const JsonField& field, BpeSpec& spec) {
  MarkDecoder marks;
  int parts = 0;
  bool bytes = false;
  bool metaspace = false;
  int left = kMostSteps;
  each_part(
      field,
      "decoders",
      [&](const JsonField& part) {
        const std::string& type = part["type"].text();
        if (++parts == 1 && type == "ByteLevel") {
          part.expect_only(
              {"type", "add_prefix_space", "trim_offsets", "use_regex"});
          bytes = true;
        } else if (parts == 1 && type == "Metaspace") {
          part.expect_only(
              {"type",
               "replacement",
               "add_prefix_space",
               "prepend_scheme",
               "split",
               "str_rep"});
          metaspace = true;
          const JsonField scheme = part["prepend_scheme"];
          spec.strip_first_space = scheme.is_null()
              ? part["add_prefix_space"].boolean_or(true)
              : scheme.text() != "never";
        } else if (bytes || metaspace) {
          part.unsupported("no decoder behind ByteLevel or Metaspace");
        } else {
          read_mark_decoder(part, marks);
        }
      },
      left);
  if (bytes != spec.byte_level) {
    field.unsupported(
        spec.byte_level ? "the decoder ByteLevel, as the pre-tokenizer is"
                        : "no decoder ByteLevel without that pre-tokenizer");
  }
  if (!bytes && spec.byte_fallback != marks.byte_fallback) {
    field.unsupported("ByteFallback where model.byte_fallback is set");
  }
  spec.decoder = bytes ? BpeDecoder::kBytes
      : metaspace      ? BpeDecoder::kMetaspace
                       : BpeDecoder::kMarks;
  if (spec.decoder == BpeDecoder::kMarks) {
    if (!marks.fuse) {
      field.unsupported("decoders up to Fuse");
    }
    spec.strip_first_space = marks.strip;
  }
}

} // namespace holdfast
