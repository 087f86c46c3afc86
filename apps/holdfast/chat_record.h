// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a chat is on disk: the record chat/NAME, whose tokens are those of the
// current turn and whose part "history" is the rest of the tree, packed; and,
// while a question has no answer, the record question/NAME (docs/cli.md).
// Values; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/formats/chat_history.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/record_body.h"

namespace holdfast::app {

inline constexpr std::string_view kChatSpace = "chat";
inline constexpr std::string_view kQuestionSpace = "question";

RecordName chat_record_name(const std::string& name);
RecordName question_record_name(const std::string& name);
/// The key of the generation that answers this turn of the chat.
std::string answer_key(const std::string& name, size_t turn);
/// True for what answer_key() may give, of any chat, and all names like it.
bool is_of_chats(std::string_view key);
/// True for answer_key of that chat and any turn.
bool is_answer_key(std::string_view key, std::string_view name);
/// The keys that one process at a time claims, which has the chat open: of its
/// records, and of its answers that were interrupted.
std::vector<std::string> chat_claims(const std::string& name);

void set_history(RecordBody& body, const ChatHistory& history);
/// The JSON of its part; kNotFound where there is none, kCorrupt, kUnsupported.
Result<std::string> history_json(const RecordBody& body);
/// tokens: the record's. kNotFound, kCorrupt, kUnsupported.
Result<ChatHistory>
history_of(const RecordBody& body, std::span<const int32_t> tokens);

/// The question that waits; it is below the current turn.
void set_question(RecordBody& body, const ChatHistory& history);
/// Nothing where it is of another moment of the chat, for it was answered, or
/// of another chat that had the name.
Result<std::optional<ChatHistory::Pending>>
question_of(const RecordBody& body, const ChatHistory& history);

} // namespace holdfast::app
