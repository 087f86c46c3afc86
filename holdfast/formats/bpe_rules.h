// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A merging vocabulary, indexed: pieces by text, merges by pair. Immutable once
// built; any thread. The pieces' bytes are copies.

#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/formats/bpe_spec.h"
#include "holdfast/formats/byte_pairs.h"
#include "holdfast/formats/merge_table.h"
#include "holdfast/formats/piece_list.h"

namespace holdfast {

struct BpeRules : PieceList {
  /// kCorrupt where the vocabulary contradicts itself ("tokens", "merges",
  /// "token_type" name what), kUnsupported where it cannot encode every text.
  static Result<std::unique_ptr<const BpeRules>> build(BpeSpec& spec);

  using PieceList::PieceList;

  MergeTable merges;
  BytePairs pairs; // what meets in what merging makes
  /// The first symbol of a byte: of a character without piece where pieces are
  /// text.
  std::array<TokenId, 256> byte_ids{};
  TokenId unknown = kNoToken;
  bool byte_level = false;
  bool fuse_unknown = false;
  bool whole_words = false;
};

} // namespace holdfast
