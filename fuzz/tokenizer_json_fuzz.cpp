// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A tokenizer.json from arbitrary bytes, and a text: what is accepted gives ids
// of the vocabulary for every text, and streams valid UTF-8 from them.
// Input: the document, a zero byte, the text. '@' alone stands in the document
// for the 256 pieces of the byte alphabet, '$' for the 256 byte pieces.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "holdfast/formats/byte_alphabet.h"
#include "holdfast/formats/tokenizer_json.h"
#include "holdfast/formats/utf8.h"

namespace holdfast {
namespace {

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// "piece":id, of all bytes.
std::string byte_pieces(bool alphabet) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string pieces;
  for (int byte = 0; byte < 256; ++byte) {
    pieces += byte > 0 ? ",\"" : "\"";
    if (!alphabet) {
      pieces += std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">";
    } else if (byte == '"' || byte == '\\') {
      pieces += std::string("\\") + static_cast<char>(byte);
    } else {
      append_in_alphabet(std::string(1, static_cast<char>(byte)), pieces);
    }
    pieces += "\":" + std::to_string(byte);
  }
  return pieces;
}

std::string document_of(std::string_view bytes) {
  static const std::string kAlphabet = byte_pieces(true);
  static const std::string kBytes = byte_pieces(false);
  std::string document;
  for (const char byte : bytes) {
    if ((byte == '@' || byte == '$') && document.size() < 100000) {
      document += byte == '@' ? kAlphabet : kBytes;
    } else {
      document += byte;
    }
  }
  return document;
}

void check(const Tokenizer& tokenizer, std::string_view text, bool special) {
  std::vector<TokenId> ids;
  try {
    ids = tokenizer.encode(text, {.parse_special = special});
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kOutOfBudget);
    return;
  }
  Detokenizer detokenizer(tokenizer, {.show_special = true});
  for (const TokenId id : ids) {
    require(id >= 0 && id < tokenizer.size());
    require(is_utf8(detokenizer.push(id)));
  }
  require(is_utf8(detokenizer.flush()));
  tokenizer.decode(ids);
}

void run(std::string_view bytes) {
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::string_view text =
      end < bytes.size() ? bytes.substr(end + 1) : std::string_view();
  const auto read =
      read_tokenizer_json(document_of(bytes.substr(0, end)), "tokenizer.json");
  if (!read.ok()) {
    require(read.status().text().starts_with("tokenizer.json: "));
    return;
  }
  check(read.value(), text, false);
  check(read.value(), text, true);
}

} // namespace
} // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  holdfast::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
