// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A small tokenizer.json for tests, to change and to read: 256 bytes, "a" + "b"
// merged to 256, and <end> at 257.

#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "holdfast/formats/byte_alphabet.h"
#include "holdfast/formats/tokenizer_json.h"

namespace holdfast::test {

using nlohmann::json;

inline json small_tokenizer_json() {
  json vocab = json::object();
  for (int byte = 0; byte < 256; ++byte) {
    std::string piece;
    append_in_alphabet(std::string(1, static_cast<char>(byte)), piece);
    vocab[piece] = byte;
  }
  vocab["ab"] = 256;
  const json end{
      {"id", 257},
      {"content", "<end>"},
      {"single_word", false},
      {"lstrip", false},
      {"rstrip", false},
      {"normalized", false},
      {"special", true}};
  const json bytes{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  return {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", json::array({end})},
      {"normalizer", nullptr},
      {"pre_tokenizer", bytes},
      {"post_processor", nullptr},
      {"decoder", bytes},
      {"model",
       {{"type", "BPE"},
        {"vocab", vocab},
        {"merges", json::array({json::array({"a", "b"})})}}}};
}

inline Result<Tokenizer>
read(const json& document, const TokenizerNames& names = {}) {
  return read_tokenizer_json(document.dump(), "t.json", names);
}

/// "corrupt: t.json: ...", or "ok".
inline std::string
refusal(const json& document, const TokenizerNames& names = {}) {
  const Status status = read(document, names).status();
  return status.ok() ? "ok"
                     : std::string(name(status.code())) + ": " + status.text();
}

} // namespace holdfast::test
