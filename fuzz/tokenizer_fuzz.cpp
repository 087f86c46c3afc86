// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A vocabulary and a text from arbitrary bytes: whatever is accepted must give
// back the text from its ids, and stream valid UTF-8.
// Input: flags, number of pieces, per piece {length and type, score, bytes},
// then the text.

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/formats/tokenizer.h"
#include "holdfast/formats/utf8.h"

namespace holdfast {
namespace {

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}
  uint8_t byte() {
    const std::string_view one = bytes(1);
    return one.empty() ? uint8_t{0} : static_cast<uint8_t>(one[0]);
  }
  std::string_view bytes(size_t count) {
    const std::string_view result = rest_.substr(0, count);
    rest_.remove_prefix(result.size());
    return result;
  }
  std::string_view rest() const {
    return rest_;
  }

 private:
  std::string_view rest_;
};

struct Parts {
  std::deque<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> types;

  void add(std::string text, float score, int32_t type) {
    texts.push_back(std::move(text));
    scores.push_back(score);
    types.push_back(type);
  }
};

Parts read_parts(Input& input) {
  constexpr char kHex[] = "0123456789ABCDEF";
  Parts parts;
  for (int byte = 0; byte < 256; ++byte) {
    parts.add(
        std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">", 0, 6);
  }
  for (int count = input.byte() % 64; count > 0; --count) {
    const uint8_t head = input.byte();
    const auto score = static_cast<float>(static_cast<int8_t>(input.byte()));
    parts.add(std::string(input.bytes(head & 15u)), score, head >> 4);
  }
  return parts;
}

void check_stream(
    const Tokenizer& tokenizer,
    const std::vector<TokenId>& ids,
    std::string_view whole) {
  Detokenizer detokenizer(tokenizer, {.show_special = true});
  std::string streamed;
  for (const TokenId id : ids) {
    const std::string part = detokenizer.push(id);
    require(is_utf8(part));
    streamed += part;
  }
  streamed += detokenizer.flush();
  require(is_utf8(streamed));
  require(streamed == whole || !is_utf8(whole));
}

void run(std::string_view bytes) {
  Input input(bytes);
  const uint8_t flags = input.byte();
  const Parts parts = read_parts(input);
  SpmVocabulary vocabulary;
  vocabulary.pieces.assign(parts.texts.begin(), parts.texts.end());
  vocabulary.scores = parts.scores;
  vocabulary.types = parts.types;
  vocabulary.add_space_prefix = (flags & 1) != 0;
  const Result<Tokenizer> built = Tokenizer::build(vocabulary);
  if (!built.ok()) {
    return;
  }
  const Tokenizer& tokenizer = built.value();
  const std::string_view text = input.rest();
  const std::vector<TokenId> ids =
      tokenizer.encode(text, {.parse_special = (flags & 2) != 0});
  const std::string whole = tokenizer.decode(ids, {.show_special = true});
  // U+2581 becomes a space, so only texts without it come back.
  require(whole == text || text.find(kSpaceMark) != text.npos);
  check_stream(tokenizer, ids, whole);
}

} // namespace
} // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  holdfast::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
