// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/piece_list.h"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast {
namespace {

/// The views' bytes in one stretch, which they view from here on.
std::vector<char> own_text(std::vector<std::string_view>& views) {
  size_t size = 0;
  for (const std::string_view view : views) {
    size += view.size();
  }
  std::vector<char> text(size);
  char* to = text.data();
  for (std::string_view& view : views) {
    const size_t bytes = view.size();
    char* const from = to;
    to = std::copy_n(view.data(), bytes, to);
    view = {from, bytes};
  }
  return text;
}

} // namespace

PieceList::PieceList(std::vector<std::string_view> views)
    : text(own_text(views)),
      pieces(std::move(views)),
      types(pieces.size(), PieceType::kNormal) {}

Status PieceList::index() {
  table = PieceTable(pieces);
  const auto [first, second] = table.index_all();
  if (first == kNoToken) {
    return {};
  }
  return {
      ErrorCode::kCorrupt,
      "[tokenizer] tokens: expected distinct pieces, got piece " +
          std::to_string(second) + " equal to piece " + std::to_string(first)};
}

} // namespace holdfast
