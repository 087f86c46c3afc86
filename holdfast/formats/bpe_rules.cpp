// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/bpe_rules.h"

#include <string>
#include <utility>

#include "holdfast/formats/byte_alphabet.h"

namespace holdfast {
namespace {

constexpr size_t kMostPieces = size_t{1} << 28;
constexpr size_t kMostPieceBytes = size_t{1} << 20;

Status corrupt(const char* field, const std::string& text) {
  return {
      ErrorCode::kCorrupt,
      "[tokenizer] " + std::string(field) + ": expected " + text};
}

Status unsupported(const char* field, const std::string& text) {
  return {
      ErrorCode::kUnsupported,
      "[tokenizer] " + std::string(field) + ": expected " + text};
}

Status check_pieces(const BpeSpec& spec) {
  const size_t count = spec.pieces.size();
  if (count == 0 || count > kMostPieces || spec.types.size() != count) {
    return corrupt(
        "tokens",
        "1 to 2^28 pieces and as many types, got " + std::to_string(count) +
            " and " + std::to_string(spec.types.size()));
  }
  for (size_t i = 0; i < count; ++i) {
    if (spec.pieces[i].size() > kMostPieceBytes) {
      return corrupt(
          "tokens",
          "at most 1 MiB of piece " + std::to_string(i) + ", got " +
              std::to_string(spec.pieces[i].size()));
    }
  }
  const SpecialIds& special = spec.special;
  for (const auto& [field, id] :
       {std::pair{"bos_token_id", special.bos},
        std::pair{"eos_token_id", special.eos},
        std::pair{"unknown_token_id", special.unknown},
        std::pair{"padding_token_id", special.padding}}) {
    if (id < kNoToken || id >= static_cast<int64_t>(count)) {
      return corrupt(
          field,
          "an id below " + std::to_string(count) + ", got " +
              std::to_string(id));
    }
  }
  if ((special.add_bos && special.bos == kNoToken) ||
      (special.add_eos && special.eos == kNoToken)) {
    return corrupt(
        special.add_bos && special.bos == kNoToken ? "add_bos_token"
                                                   : "add_eos_token",
        "the id of what is added, got none");
  }
  return {};
}

/// The first symbols: of bytes in their alphabet, or the byte pieces.
Status index_bytes(const BpeSpec& spec, BpeRules& rules) {
  rules.byte_ids.fill(kNoToken);
  if (!spec.byte_level && !spec.byte_fallback) {
    return rules.unknown != kNoToken
        ? Status()
        : unsupported("unk_token", "one where bytes have no pieces, got none");
  }
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string name;
  for (size_t byte = 0; byte < 256; ++byte) {
    if (spec.byte_level) {
      name.clear();
      append_in_alphabet(std::string(1, static_cast<char>(byte)), name);
    } else {
      name = std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">";
    }
    TokenId id = rules.table.find(name);
    bool of_byte = !spec.byte_level;
    if (id == kNoToken && of_byte && byte < 0x80) {
      // Published Gemma files have the character itself in place of <0x09>.
      id = rules.table.find(std::string(1, static_cast<char>(byte)));
      of_byte = false; // text, which merges may use
    }
    if (id == kNoToken) {
      return unsupported(
          "tokens", "a piece for each byte, got none that is " + name);
    }
    if (of_byte) {
      rules.types[static_cast<size_t>(id)] = PieceType::kByte;
    }
    rules.byte_ids[byte] = id;
  }
  return {};
}

/// Bytes that meet in `piece` as text has them.
void add_pairs(std::string_view piece, BpeRules& rules, std::string& scratch) {
  if (!rules.byte_level) {
    rules.pairs.add_with_marks(piece);
    return;
  }
  scratch.clear();
  append_out_of_alphabet(piece, scratch);
  rules.pairs.add_bytes(scratch);
}

Status index_merges(const BpeSpec& spec, BpeRules& rules) {
  rules.merges = MergeTable(spec.merges.size());
  std::string whole;
  std::string scratch;
  for (size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const auto [left_text, right_text] = spec.merges[rank];
    whole.assign(left_text).append(right_text);
    const TokenId left = rules.table.find(left_text);
    const TokenId right = rules.table.find(right_text);
    const TokenId product = rules.table.find(whole);
    if (left == kNoToken || right == kNoToken || product == kNoToken) {
      return corrupt(
          "merges",
          "two pieces and what they make at " + std::to_string(rank) +
              ", got one that is no piece");
    }
    for (const TokenId id : {left, right, product}) {
      if (id == rules.unknown ||
          rules.types[static_cast<size_t>(id)] == PieceType::kByte) {
        return unsupported(
            "merges",
            "pieces of text at " + std::to_string(rank) +
                ", got an unknown or a byte piece");
      }
    }
    rules.merges.insert(left, right, {static_cast<uint32_t>(rank), product});
    add_pairs(whole, rules, scratch);
  }
  return {};
}

} // namespace

Result<std::unique_ptr<const BpeRules>> BpeRules::build(BpeSpec& spec) {
  Status status = check_pieces(spec);
  if (!status.ok()) {
    return status;
  }
  auto rules = std::make_unique<BpeRules>(spec.pieces);
  rules->types = spec.types;
  rules->unknown = spec.special.unknown;
  rules->byte_level = spec.byte_level;
  rules->fuse_unknown = spec.fuse_unknown;
  rules->whole_words = spec.whole_words;
  status = rules->index();
  if (status.ok()) {
    status = index_bytes(spec, *rules);
  }
  if (status.ok()) {
    status = index_merges(spec, *rules);
  }
  if (!status.ok()) {
    return status;
  }
  return std::unique_ptr<const BpeRules>(std::move(rules));
}

} // namespace holdfast
