// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A chat template from arbitrary bytes, rendered: it ends within its limits,
// with text that is UTF-8 or an error that says why.

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "holdfast/formats/chat_template.h"
#include "holdfast/formats/utf8.h"

namespace holdfast {
namespace {

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

jinja::Variables variables() {
  using jinja::Value;
  const auto message = [](const char* role, const char* content) {
    return Value::dict({{"role", role}, {"content", content}});
  };
  return {
      {"messages",
       Value::list(
           {message("system", " be brief\n"),
            message("user", "hé 日本 <think>"),
            message("assistant", "a</think>b"),
            message("user", "")})},
      {"add_generation_prompt", true},
      {"tools", Value()},
      {"bos_token", "<bos>"},
      {"d", Value::dict({{"a", 1}, {"b", Value::list({2.5, "x"})}})}};
}

void run(std::string_view source) {
  const Result<ChatTemplate> parsed = ChatTemplate::parse(source);
  if (!parsed.ok()) {
    require(!parsed.status().text().empty());
    return;
  }
  const jinja::Limits limits{.steps = 200'000, .bytes = 4 << 20};
  const std::tm now = {};
  const Result<std::string> text =
      parsed.value().render(variables(), now, limits);
  if (text.ok()) {
    require(is_utf8(text.value()));
    require(std::ssize(text.value()) <= limits.bytes);
  } else {
    require(text.status().code() != ErrorCode::kInternal);
  }
}

} // namespace
} // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  holdfast::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
