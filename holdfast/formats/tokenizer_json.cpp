// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/tokenizer_json.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "holdfast/base/quoted_text.h"
#include "holdfast/formats/bpe_model.h"
#include "holdfast/formats/json_bytes.h"
#include "holdfast/formats/json_field.h"
#include "holdfast/formats/tokenizer_json_steps.h"
#include "holdfast/formats/vocabulary_events.h"

namespace holdfast {
namespace {

// Ids without a piece that a vocabulary may have beyond its pieces.
constexpr uint64_t kMostHoles = 65536;

class Reader {
 public:
  Reader(
      std::string_view bytes,
      const std::string& file,
      const TokenizerNames& names)
      : file_(file), names_(names), events_(file) {
    read_json(bytes, file, events_);
    document_ = events_.take();
  }

  Tokenizer read() {
    const JsonField all(document_, file_);
    all.expect_only(
        {"version",
         "truncation",
         "padding",
         "added_tokens",
         "normalizer",
         "pre_tokenizer",
         "post_processor",
         "decoder",
         "model"});
    if (all["version"].text() != "1.0") {
      all["version"].unsupported("1.0");
    }
    read_model(all["model"]);
    read_pieces(all["model"]["vocab"], all["added_tokens"]);
    read_added(all["added_tokens"]);
    read_normalizers(all["normalizer"], spec_);
    read_pre_tokenizers(all["pre_tokenizer"], spec_);
    read_decoders(all["decoder"], spec_);
    read_post_processor(all["post_processor"]);
    apply_names();
    spec_.merges = events_.merges();
    auto built = BpeModel::build(std::move(spec_));
    if (!built.ok()) {
      // "[tokenizer] merges: ..." is of model.merges.
      constexpr std::string_view kFrom = "[tokenizer] ";
      std::string text = built.status().text();
      if (text.starts_with(kFrom)) {
        text.erase(0, kFrom.size());
      }
      throw Error(built.status().code(), file_ + ": model." + text);
    }
    return Tokenizer(std::move(built).value());
  }

 private:
  void read_model(const JsonField& model) {
    model.expect_only(
        {"type",
         "dropout",
         "unk_token",
         "continuing_subword_prefix",
         "end_of_word_suffix",
         "fuse_unk",
         "byte_fallback",
         "ignore_merges",
         "vocab",
         "merges"});
    // Files of older versions do not name the type of a BPE.
    if (!model["type"].is_null() && model["type"].text() != "BPE") {
      model["type"].unsupported("BPE");
    }
    if (!model["vocab"].is_object()) {
      model["vocab"].unsupported("an object of pieces, which BPE has");
    }
    if (!model["merges"].is_list()) {
      model["merges"].corrupt("a list");
    }
    if (!model["dropout"].is_null()) {
      model["dropout"].unsupported("none");
    }
    for (const char* key :
         {"continuing_subword_prefix", "end_of_word_suffix"}) {
      const JsonField field = model[key];
      if (!field.is_null() && !field.text().empty()) {
        field.unsupported("none");
      }
    }
    spec_.byte_fallback = model["byte_fallback"].boolean_or(false);
    spec_.fuse_unknown = model["fuse_unk"].boolean_or(false);
    spec_.whole_words = model["ignore_merges"].boolean_or(false);
    if (!model["unk_token"].is_null()) {
      unknown_ = model["unk_token"].text();
    }
  }

  /// One more than the highest id of all.
  size_t count_ids(const JsonField& vocab, const JsonField& added) const {
    uint64_t most = 0;
    uint64_t entries = events_.pieces().size();
    for (const auto& piece : events_.pieces()) {
      // Not beyond what is refused below: one more than the largest is 0.
      most = std::max(most, std::min<uint64_t>(piece.id, kMostIds) + 1);
    }
    for (const JsonField& token : added.items()) {
      most = std::max(most, static_cast<uint64_t>(token["id"].integer()) + 1);
      ++entries;
    }
    if (most == 0 || most > entries + kMostHoles || most > kMostIds) {
      vocab.unsupported(
          "ids that leave at most 65536 unused (highest " +
          std::to_string(most) + ")");
    }
    return static_cast<size_t>(most);
  }

  void read_pieces(const JsonField& vocab, const JsonField& added) {
    spec_.pieces.resize(count_ids(vocab, added));
    spec_.types.assign(spec_.pieces.size(), PieceType::kUnused);
    for (const auto& piece : events_.pieces()) {
      const std::string_view text = events_.text(piece);
      put(static_cast<size_t>(piece.id), text, PieceType::kNormal, vocab);
    }
  }

  void
  put(size_t id,
      std::string_view text,
      PieceType type,
      const JsonField& field) {
    std::string_view& place = spec_.pieces[id];
    if (text.empty() || (!place.empty() && place != text)) {
      field.corrupt(
          "a piece of its own for id " + std::to_string(id) + " (it is " +
          quoted_text(place) + " and " + quoted_text(text) + ")");
    }
    place = text;
    spec_.types[id] = type;
  }

  void read_added(const JsonField& added) {
    for (const JsonField& token : added.items()) {
      token.expect_only(
          {"id",
           "content",
           "single_word",
           "lstrip",
           "rstrip",
           "normalized",
           "special"});
      const AddedToken result{
          .id = static_cast<TokenId>(token["id"].integer()),
          .text = token["content"].text(),
          .special = token["special"].boolean_or(false),
          .single_word = token["single_word"].boolean_or(false),
          .left_strip = token["lstrip"].boolean_or(false),
          .right_strip = token["rstrip"].boolean_or(false),
          .normalized = token["normalized"].boolean_or(true)};
      const bool known = added_.emplace(result.text, result.id).second;
      if (!known) {
        token["content"].corrupt("each text once");
      }
      put(static_cast<size_t>(result.id),
          token["content"].text(),
          result.special ? PieceType::kControl : PieceType::kUserDefined,
          token["content"]);
      spec_.added.push_back(result);
    }
  }

  TokenId id_of(std::string_view piece) const {
    const auto added = added_.find(piece);
    if (added != added_.end()) {
      return added->second;
    }
    const auto found =
        std::find(spec_.pieces.begin(), spec_.pieces.end(), piece);
    return piece.empty() || found == spec_.pieces.end()
        ? kNoToken
        : static_cast<TokenId>(found - spec_.pieces.begin());
  }

  void read_post_processor(const JsonField& field, int depth = 0) {
    if (field.is_null()) {
      return;
    }
    const std::string& type = field["type"].text();
    if (type == "Sequence" && depth == 0) {
      field.expect_only({"type", "processors"});
      for (const JsonField& part : field["processors"].items()) {
        read_post_processor(part, 1);
      }
    } else if (type == "TemplateProcessing" && !has_template_) {
      field.expect_only({"type", "single", "pair", "special_tokens"});
      has_template_ = true;
      read_template(field["single"], field["special_tokens"]);
    } else if (type == "ByteLevel") {
      // Of offsets alone.
      field.expect_only(
          {"type", "add_prefix_space", "trim_offsets", "use_regex"});
    } else {
      field["type"].unsupported(
          "one TemplateProcessing, ByteLevel, or a Sequence of them");
    }
  }

  /// At most one token before the text and one behind it.
  void read_template(const JsonField& single, const JsonField& tokens) {
    bool text_seen = false;
    for (const JsonField& item : single.items()) {
      item.expect_only({"SpecialToken", "Sequence"});
      if (!item["Sequence"].is_null()) {
        if (text_seen || item["Sequence"]["id"].text() != "A") {
          item.unsupported("the text once");
        }
        text_seen = true;
        continue;
      }
      const std::string& name = item["SpecialToken"]["id"].text();
      const std::vector<JsonField> ids = tokens[name]["ids"].items();
      TokenId& of = text_seen ? spec_.special.eos : spec_.special.bos;
      if (ids.size() != 1 || of != kNoToken) {
        item.unsupported("one token before the text and one behind it at most");
      }
      const int64_t id = ids[0].integer();
      if (id >= static_cast<int64_t>(spec_.pieces.size())) {
        ids[0].corrupt("the id of a piece");
      }
      of = static_cast<TokenId>(id);
      (text_seen ? spec_.special.add_eos : spec_.special.add_bos) = true;
    }
    if (!text_seen) {
      single.corrupt("the text once");
    }
  }

  /// The id of a piece that another file names.
  void name(
      const std::optional<std::string>& piece,
      const char* field,
      bool added,
      TokenId& id) const {
    if (!piece) {
      return;
    }
    const TokenId named = id_of(*piece);
    if (named == kNoToken) {
      throw Error(
          ErrorCode::kCorrupt,
          names_.file + ": " + field + ": expected a piece of " + file_ +
              ", got " + quoted_text(*piece));
    }
    if (!added || id == kNoToken) { // the post-processor says what is added
      id = named;
    }
  }

  void apply_names() {
    SpecialIds& special = spec_.special;
    if (names_.add_bos) {
      special.add_bos = *names_.add_bos;
    }
    if (names_.add_eos) {
      special.add_eos = *names_.add_eos;
    }
    name(names_.bos, "bos_token", special.add_bos, special.bos);
    name(names_.eos, "eos_token", special.add_eos, special.eos);
    name(names_.padding, "pad_token", false, special.padding);
    if (unknown_) {
      special.unknown = id_of(*unknown_);
      if (special.unknown == kNoToken) {
        throw Error(
            ErrorCode::kCorrupt,
            file_ + ": model.unk_token: expected a piece, got " +
                quoted_text(*unknown_));
      }
      PieceType& type = spec_.types[static_cast<size_t>(special.unknown)];
      if (type == PieceType::kControl) {
        type = PieceType::kUnknown;
      }
    }
  }

  static constexpr uint64_t kMostIds = uint64_t{1} << 28;

  const std::string& file_;
  const TokenizerNames& names_;
  VocabularyEvents events_;
  nlohmann::json document_;
  BpeSpec spec_;
  std::optional<std::string> unknown_;
  std::map<std::string, TokenId, std::less<>> added_;
  bool has_template_ = false;
};

} // namespace

Result<Tokenizer> read_tokenizer_json(
    std::string_view bytes,
    const std::string& file,
    const TokenizerNames& names) {
  try {
    return Reader(bytes, file, names).read();
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
