// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Parses arbitrary bytes as a chat's history: what is accepted can be walked,
// and comes back from what it is written as. The first byte says whether the
// bytes are packed, the second how many tokens the record has.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "holdfast/formats/chat_history.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void require_line(const holdfast::Status& status) {
  require(status.text().find('\n') == std::string::npos);
}

/// Whatever a program asks of a history that it has read.
void walk(const holdfast::ChatHistory& history) {
  using namespace holdfast;
  for (const auto& branch : history.branches()) {
    require(!history.texts().empty());
    (void)branch;
  }
  const auto last = history.last();
  require(last.has_value() == (history.current() != kNoTurn));
  for (int64_t turn = 0; turn < std::ssize(history.turns()); ++turn) {
    require(!history.path(turn).empty());
    require(history.messages(turn, true).back().role == "assistant");
  }
  require(history.asked({"", "a"}).back().content == "a");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace holdfast;
  if (size < 2) {
    return 0;
  }
  std::string json(reinterpret_cast<const char*>(data) + 2, size - 2);
  if ((data[0] & 1) != 0) {
    auto unpacked = ChatHistory::unpacked(json);
    if (!unpacked.ok()) {
      require_line(unpacked.status());
      return 0;
    }
    json = std::move(unpacked).value();
  }
  std::vector<int32_t> stored(data[1]);
  for (size_t i = 0; i < stored.size(); ++i) {
    stored[i] = static_cast<int32_t>(i);
  }
  auto parsed = ChatHistory::parse(json, stored);
  if (!parsed.ok()) {
    return 0;
  }
  ChatHistory& history = parsed.value();
  walk(history);
  history.pending.reset(); // json() says no question
  const std::string again = history.json();
  require(
      ChatHistory::parse(again, history.stored_tokens()).value() == history);
  require(ChatHistory::unpacked(ChatHistory::packed(again)).value() == again);
  return 0;
}
