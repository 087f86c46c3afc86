// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/bpe_model.h"

#include <string>
#include <utility>

#include "holdfast/formats/bpe_merge.h"
#include "holdfast/formats/byte_alphabet.h"
#include "holdfast/formats/utf8.h"

namespace holdfast {
namespace {

Status check_added(const BpeSpec& spec) {
  for (const AddedToken& token : spec.added) {
    const auto corrupt = [&](const char* text) {
      return Status(
          ErrorCode::kCorrupt,
          "[tokenizer] added_tokens: expected " + std::string(text) +
              " of token " + std::to_string(token.id));
    };
    if (token.id < 0 || token.id >= static_cast<int64_t>(spec.pieces.size())) {
      return corrupt("an id of the vocabulary");
    }
    if (token.text.empty() || token.text.size() > kMaxSearchedPieceBytes) {
      return corrupt("1 to 1024 bytes");
    }
  }
  return {};
}

AddedTokens added_of(const BpeSpec& spec) {
  PatternMatcher matcher;
  return AddedTokens(spec.added, [&](std::string_view text) {
    std::string memory;
    return std::string(
        is_utf8(text) ? spec.normalizers.apply(
                            text, StretchPlace::kStart, matcher, memory)
                      : text);
  });
}

} // namespace

struct BpeModel::Work {
  Work(
      const BpeModel& model,
      const EncodeOptions& encode_options,
      size_t bytes,
      std::vector<TokenId>& result)
      : options(encode_options),
        ids(result),
        merger(*model.rules_, bytes),
        splitter(model.spec_.words, matcher),
        add_word([this](std::string_view word) { merger.encode(word, ids); }) {}

  const EncodeOptions& options;
  std::vector<TokenId>& ids;
  PatternMatcher matcher;
  BpeMerger merger;
  WordSplitter splitter;
  WordSplitter::Word add_word;
  std::string normalized;
  std::string prefixed;
};

Result<std::shared_ptr<const TokenModel>> BpeModel::build(BpeSpec spec) {
  Status status = check_added(spec);
  if (!status.ok()) {
    return status;
  }
  auto rules = BpeRules::build(spec);
  if (!rules.ok()) {
    return rules.status();
  }
  try {
    return std::shared_ptr<const TokenModel>(std::make_shared<const BpeModel>(
        std::move(spec), std::move(rules).value()));
  } catch (const Error& error) { // a pattern on an added token's text
    return Status(error.code(), error.what());
  }
}

BpeModel::BpeModel(BpeSpec spec, std::unique_ptr<const BpeRules> rules)
    : rules_(std::move(rules)),
      spec_(std::move(spec)),
      added_(added_of(spec_)) {
  spec_.pieces = {};
  spec_.types = {};
  spec_.merges = {};
  spec_.added = {};
}

void BpeModel::encode(
    std::string_view text,
    const EncodeOptions& options,
    std::vector<TokenId>& ids) const {
  if (text.empty()) {
    return;
  }
  Work work(*this, options, text.size(), ids);
  StretchPlace place = StretchPlace::kStart;
  if (options.after != kNoToken) {
    const PieceType before = type(options.after);
    const bool cut = before == PieceType::kControl ||
        before == PieceType::kUnknown || before == PieceType::kUserDefined;
    place = cut ? StretchPlace::kInside : StretchPlace::kGoesOn;
  }
  for (const AddedTokens::Part& part :
       added_.cut_raw(text, options.parse_special, work.matcher)) {
    if (part.id != kNoToken) {
      ids.push_back(part.id);
    } else {
      encode_plain(text.substr(part.begin, part.end - part.begin), place, work);
    }
    place = StretchPlace::kInside;
  }
}

void BpeModel::encode_plain(
    std::string_view text,
    StretchPlace place,
    Work& work) const {
  if (is_utf8(text)) {
    encode_valid(text, place, work);
    return;
  }
  size_t begin = 0;
  for (size_t end = 0; end < text.size();) {
    const Utf8Step step = utf8_step(text.substr(end));
    const auto length = static_cast<size_t>(step.length);
    if (step.state == Utf8State::kValid) {
      end += length;
      continue;
    }
    encode_valid(text.substr(begin, end - begin), place, work);
    work.merger.encode(text.substr(end, length), work.ids);
    place = StretchPlace::kGoesOn;
    end += length;
    begin = end;
  }
  encode_valid(text.substr(begin), place, work);
}

void BpeModel::encode_valid(
    std::string_view text,
    StretchPlace place,
    Work& work) const {
  if (text.empty()) {
    return;
  }
  text = spec_.normalizers.apply(text, place, work.matcher, work.normalized);
  const auto add_plain = [&](std::string_view plain) {
    work.splitter.split(
        spec_.prefixes.apply(plain, place, work.matcher, work.prefixed),
        work.add_word);
  };
  if (!added_.any_normalized(work.options.parse_special)) {
    add_plain(text);
    return;
  }
  for (const AddedTokens::Part& part :
       added_.cut_normalized(text, work.options.parse_special, work.matcher)) {
    if (part.id != kNoToken) {
      work.ids.push_back(part.id);
    } else {
      add_plain(text.substr(part.begin, part.end - part.begin));
    }
    place = StretchPlace::kInside;
  }
}

void BpeModel::append_text(
    TokenId id,
    bool show_special,
    DecodePlace& place,
    std::string& text) const {
  const std::string_view stored = piece(id);
  const PieceType kind = type(id);
  place.after = id;
  if (!show_special &&
      (kind == PieceType::kControl || kind == PieceType::kUnknown)) {
    return;
  }
  const bool first = !place.begun;
  place.begun = true;
  const size_t before = text.size();
  switch (spec_.decoder) {
    case BpeDecoder::kBytes:
      if (kind == PieceType::kNormal && append_out_of_alphabet(stored, text)) {
        return;
      }
      text.append(stored);
      return;
    case BpeDecoder::kMarks:
      if (kind == PieceType::kByte) {
        text.push_back(static_cast<char>(byte_of_piece(stored)));
      } else {
        append_replaced(stored, kSpaceMark, " ", text);
      }
      if (first && spec_.strip_first_space && text.size() > before &&
          text[before] == ' ') {
        text.erase(before, 1);
      }
      return;
    case BpeDecoder::kMetaspace:
      append_replaced(
          stored,
          kSpaceMark,
          first && spec_.strip_first_space ? "" : " ",
          text);
  }
}

} // namespace holdfast
