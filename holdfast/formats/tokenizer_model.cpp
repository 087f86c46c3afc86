// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/tokenizer_model.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "holdfast/base/quoted_text.h"
#include "holdfast/formats/proto_reader.h"
#include "holdfast/formats/spm_model.h"

namespace holdfast {
namespace {

// Numbers of fields; ModelProto, its SentencePiece, TrainerSpec,
// NormalizerSpec.
constexpr uint64_t kPieces = 1;
constexpr uint64_t kTrainer = 2;
constexpr uint64_t kNormalizer = 3;
constexpr uint64_t kDenormalizer = 5;
constexpr uint64_t kPieceText = 1;
constexpr uint64_t kPieceScore = 2;
constexpr uint64_t kPieceType = 3;
constexpr uint64_t kModelType = 3;
constexpr uint64_t kSuffixSpaces = 24;
constexpr uint64_t kUnknownId = 40;
constexpr uint64_t kBosId = 41;
constexpr uint64_t kEosId = 42;
constexpr uint64_t kPaddingId = 43;
constexpr uint64_t kCharsMap = 2;
constexpr uint64_t kSpacePrefix = 3;
constexpr uint64_t kRemoveSpaces = 4;
constexpr uint64_t kEscapeSpaces = 5;
constexpr uint64_t kUnigram = 1; // the default of kModelType
constexpr uint64_t kBpe = 2;
// Ids that added tokens may leave free behind the vocabulary.
constexpr size_t kMostHoles = 65536;

class Reader {
 public:
  Reader(const std::string& file, const TokenizerNames& names)
      : file_(file), names_(names) {}

  Tokenizer read(std::string_view bytes, const std::vector<AddedToken>& added) {
    ProtoReader model(bytes, file_);
    uint64_t kind = kUnigram;
    bool normalizes = true; // what the format's defaults do
    while (model.next()) {
      switch (model.number()) {
        case kPieces:
          read_piece(model.message("pieces"));
          break;
        case kTrainer:
          kind = read_trainer(model.message("trainer_spec"));
          break;
        case kNormalizer:
          normalizes = read_normalizer(model.message("normalizer_spec"));
          break;
        case kDenormalizer:
          read_normalizer(model.message("denormalizer_spec"));
          break;
        default: // self-test samples and what later versions add
          break;
      }
    }
    if (kind != kBpe) {
      unsupported(
          "trainer_spec.model_type",
          "BPE (2), got " +
              (kind == kUnigram ? "unigram (1)" : std::to_string(kind)));
    }
    if (normalizes) {
      unsupported(
          "normalizer_spec.remove_extra_whitespaces",
          "false, as text stays what it is, got true");
    }
    add(added);
    return build();
  }

 private:
  [[noreturn]] void
  unsupported(const char* field, const std::string& text) const {
    throw Error(
        ErrorCode::kUnsupported, file_ + ": " + field + ": expected " + text);
  }

  void read_piece(ProtoReader piece) {
    std::string_view text;
    float score = 0;
    uint64_t type = static_cast<uint64_t>(PieceType::kNormal);
    while (piece.next()) {
      switch (piece.number()) {
        case kPieceText:
          text = piece.bytes("piece");
          break;
        case kPieceScore:
          score = piece.number_f32("score");
          break;
        case kPieceType:
          type = piece.varint("type");
          break;
        default:
          break;
      }
    }
    put(text, score, static_cast<int32_t>(std::min<uint64_t>(type, 1000)));
  }

  void put(std::string_view text, float score, int32_t type) {
    std::string& own = texts_.emplace_back();
    if (type == static_cast<int32_t>(PieceType::kUserDefined)) {
      // It is looked for in text, where spaces are spaces.
      append_replaced(text, kSpaceMark, " ", own);
    } else {
      own = text;
    }
    scores_.push_back(score);
    types_.push_back(type);
  }

  uint64_t read_trainer(ProtoReader trainer) {
    uint64_t kind = kUnigram;
    while (trainer.next()) {
      switch (trainer.number()) {
        case kModelType:
          kind = trainer.varint("model_type");
          break;
        case kSuffixSpaces:
          if (trainer.boolean("treat_whitespace_as_suffix")) {
            unsupported(
                "trainer_spec.treat_whitespace_as_suffix", "false, got true");
          }
          break;
        case kUnknownId:
          unknown_ = trainer.integer("unk_id");
          break;
        case kBosId:
          bos_ = trainer.integer("bos_id");
          break;
        case kEosId:
          eos_ = trainer.integer("eos_id");
          break;
        case kPaddingId:
          padding_ = trainer.integer("pad_id");
          break;
        default: // of training alone
          break;
      }
    }
    return kind;
  }

  /// Whether it removes spaces.
  bool read_normalizer(ProtoReader normalizer) {
    bool removes = true;
    while (normalizer.next()) {
      switch (normalizer.number()) {
        case kCharsMap:
          if (!normalizer.bytes("precompiled_charsmap").empty()) {
            unsupported(
                "normalizer_spec.precompiled_charsmap",
                "none (identity), got " +
                    std::to_string(normalizer.bytes("").size()) + " bytes");
          }
          break;
        case kSpacePrefix:
          space_prefix_ = normalizer.boolean("add_dummy_prefix");
          break;
        case kRemoveSpaces:
          removes = normalizer.boolean("remove_extra_whitespaces");
          break;
        case kEscapeSpaces:
          if (!normalizer.boolean("escape_whitespaces")) {
            unsupported(
                "normalizer_spec.escape_whitespaces", "true, got false");
          }
          break;
        default:
          break;
      }
    }
    return removes;
  }

  void add(const std::vector<AddedToken>& added) {
    const size_t own = texts_.size();
    for (const AddedToken& token : added) {
      const auto id = static_cast<size_t>(token.id);
      const auto type = static_cast<int32_t>(
          token.special ? PieceType::kControl : PieceType::kUserDefined);
      if (token.left_strip || token.right_strip || token.single_word) {
        throw Error(
            ErrorCode::kUnsupported,
            names_.added + "." + std::to_string(id) +
                ": expected no lstrip, rstrip, single_word beside " + file_ +
                ", got one");
      }
      if (id < own) {
        std::string spaced; // as put() stores a user's own piece
        append_replaced(token.text, kSpaceMark, " ", spaced);
        if (texts_[id] != token.text && texts_[id] != spaced) {
          clash(id, token.text);
        }
        // Byte and unknown pieces stay what they are.
        if (types_[id] == static_cast<int32_t>(PieceType::kNormal) ||
            types_[id] == static_cast<int32_t>(PieceType::kUserDefined)) {
          types_[id] = type;
        }
        continue;
      }
      if (id > own + added.size() + kMostHoles) {
        clash(id, token.text);
      }
      while (texts_.size() <= id) {
        put("", 0, static_cast<int32_t>(PieceType::kUnused));
      }
      if (!texts_[id].empty()) {
        clash(id, token.text);
      }
      texts_[id] = token.text;
      types_[id] = type;
    }
  }

  [[noreturn]] void clash(size_t id, const std::string& text) const {
    throw Error(
        ErrorCode::kCorrupt,
        names_.added + "." + std::to_string(id) + ": expected the piece of " +
            file_ + " or an id behind its " + std::to_string(texts_.size()) +
            ", got " + quoted_text(text));
  }

  void name(
      const std::optional<std::string>& piece,
      const char* field,
      int64_t& id) const {
    if (!piece) {
      return;
    }
    const auto found = std::find(texts_.begin(), texts_.end(), *piece);
    if (found == texts_.end() || piece->empty()) {
      throw Error(
          ErrorCode::kCorrupt,
          names_.file + ": " + field + ": expected a piece of " + file_ +
              ", got " + quoted_text(*piece));
    }
    id = found - texts_.begin();
  }

  Tokenizer build() {
    name(names_.bos, "bos_token", bos_);
    name(names_.eos, "eos_token", eos_);
    name(names_.padding, "pad_token", padding_);
    SpmVocabulary vocabulary;
    vocabulary.pieces.assign(texts_.begin(), texts_.end());
    vocabulary.scores = scores_;
    vocabulary.types = types_;
    vocabulary.bos = bos_;
    vocabulary.eos = eos_;
    vocabulary.unknown = unknown_;
    vocabulary.padding = padding_;
    // What the families do where nothing says otherwise.
    vocabulary.add_bos = names_.add_bos.value_or(bos_ != kNoToken);
    vocabulary.add_eos = names_.add_eos.value_or(false);
    vocabulary.add_space_prefix = space_prefix_;
    auto built = SpmModel::build(std::move(vocabulary));
    if (!built.ok()) {
      constexpr std::string_view kFrom = "[tokenizer] ";
      std::string text = built.status().text();
      if (text.starts_with(kFrom)) {
        text.erase(0, kFrom.size());
      }
      throw Error(built.status().code(), file_ + ": pieces: " + text);
    }
    return Tokenizer(std::move(built).value());
  }

  const std::string& file_;
  const TokenizerNames& names_;
  std::deque<std::string> texts_;
  std::vector<float> scores_;
  std::vector<int32_t> types_;
  int64_t unknown_ = 0; // the format's defaults
  int64_t bos_ = 1;
  int64_t eos_ = 2;
  int64_t padding_ = kNoToken;
  bool space_prefix_ = true;
};

} // namespace

Result<Tokenizer> read_tokenizer_model(
    std::string_view bytes,
    const std::string& file,
    const TokenizerNames& names,
    const std::vector<AddedToken>& added) {
  try {
    return Reader(file, names).read(bytes, added);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
