// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the GGUF tests share: parsing bytes under the name "m.gguf", and the
// complaint that a parse ends with. One thread.

#pragma once

#include <string>

#include "holdfast/formats/gguf.h"
#include "tests/formats/gguf_writer.h"

namespace holdfast::test {

/// The bytes must outlive the result.
inline Result<GgufFile> parse(const std::string& bytes) {
  return GgufFile::parse(std::as_bytes(std::span(bytes)), "m.gguf");
}

/// "corrupt: m.gguf: ...", or "ok".
inline std::string complaint(const std::string& bytes) {
  const Result<GgufFile> file = parse(bytes);
  return file.ok()
      ? "ok"
      : std::string(name(file.status().code())) + ": " + file.status().text();
}
inline std::string complaint(const GgufImage& image) {
  return complaint(image.bytes());
}

/// The text of the Error that `call` throws, or "nothing".
template <class Call>
std::string thrown(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

} // namespace holdfast::test
