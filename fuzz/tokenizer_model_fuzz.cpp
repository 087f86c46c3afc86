// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A tokenizer.model from arbitrary bytes: what is accepted gives back a text's
// bytes from its ids. Input: the message; where the first byte is odd, the 256
// byte pieces go before what follows it.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "holdfast/formats/tokenizer_model.h"

namespace holdfast {
namespace {

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// Messages of field 1: {1: "<0x00>", 3: 6} and so on.
std::string byte_pieces() {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string pieces;
  for (int byte = 0; byte < 256; ++byte) {
    pieces += std::string("\x0A\x0A\x0A\x06<0x") + kHex[byte / 16] +
        kHex[byte % 16] + ">\x18\x06";
  }
  return pieces;
}

void run(std::string_view bytes) {
  static const std::string kBytes = byte_pieces();
  std::string message;
  if (!bytes.empty() && (bytes[0] & 1) != 0) {
    message = kBytes;
  }
  message += bytes.substr(bytes.empty() ? 0 : 1);
  const auto read = read_tokenizer_model(message, "tokenizer.model");
  if (!read.ok()) {
    require(read.status().text().starts_with("tokenizer.model: "));
    return;
  }
  const Tokenizer& tokenizer = read.value();
  const auto ids = tokenizer.encode(bytes, {.parse_special = true});
  const std::string back = tokenizer.decode(ids, {.show_special = true});
  // U+2581 becomes a space, and without byte pieces some text is unknown. What
  // is added (bos, eos) shows too.
  require(
      back.find(bytes) != back.npos || bytes.find(kSpaceMark) != bytes.npos ||
      (bytes[0] & 1) == 0);
}

} // namespace
} // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  holdfast::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
