// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A chat's history as JSON. Texts are UTF-8. A turn of version 2 says how many
// of its tokens lie where they were in the record's own ("stored") and gives
// the others; one of version 1 gives all, in two lists, and the question that
// waits.

#include <algorithm>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "holdfast/base/field_reader.h"
#include "holdfast/base/zstd.h"
#include "holdfast/formats/chat_history.h"
#include "holdfast/formats/json_bytes.h"

namespace holdfast {

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kVersion = 2;
constexpr int kDeepest = 4; // a history, its turns, one of them, its tokens
// Each takes 16 bytes of memory, and two of text.
constexpr int64_t kMostValues = int64_t{1} << 24;
constexpr uint64_t kMostJson = uint64_t{1} << 28;
constexpr int kLevel = 3;

void require(bool holds, const char* what) {
  if (!holds) {
    throw Error(
        ErrorCode::kCorrupt,
        std::string("[chat] expected ") + what + ", got another");
  }
}

FinishReason reason_of(const std::string& text) {
  const auto reason = finish_reason(text);
  if (!reason) {
    throw Error(
        ErrorCode::kCorrupt,
        "[chat] expected a reason that ends answers, got another");
  }
  return *reason;
}

/// Bounded, however few bytes it was unpacked from.
Json parsed(const std::string& text) {
  require_no_nul(text, "[chat]");
  int64_t values = 0;
  return Json::parse(
      text, [&](int depth, Json::parse_event_t event, const Json&) {
        const bool begins = event == Json::parse_event_t::object_start ||
            event == Json::parse_event_t::array_start;
        require(depth < kDeepest || !begins, "lists of turns and tokens");
        values += begins || event == Json::parse_event_t::value;
        require(values <= kMostValues, "fewer than 2^24 values");
        return true;
      });
}

/// Of JSON as it is, not converted: -1 is no seed, 1.5 no count.
template <class T>
T integer(const Json& json) {
  require(
      std::is_signed_v<T> ? json.is_number_integer()
                          : json.is_number_unsigned(),
      "an integer");
  if (json.is_number_unsigned()) {
    const auto value = json.get<uint64_t>();
    require(
        value <= static_cast<uint64_t>(std::numeric_limits<T>::max()),
        "an integer in its range");
    return static_cast<T>(value);
  }
  const auto value = json.get<int64_t>();
  require(
      value >= static_cast<int64_t>(std::numeric_limits<T>::min()),
      "an integer in its range");
  return static_cast<T>(value);
}

const Json& list(const Json& json) {
  require(json.is_array(), "a list");
  return json;
}

std::vector<int32_t> ids_of(const Json& json) {
  std::vector<int32_t> ids;
  for (const Json& id : list(json)) {
    ids.push_back(integer<int32_t>(id));
    require(ids.back() >= 0, "ids of tokens");
  }
  return ids;
}

Json turn_json(const ChatTurn& turn, int64_t stored) {
  std::vector<int32_t> own = turn.prompt;
  own.insert(own.end(), turn.ids.begin(), turn.ids.end());
  own.erase(own.begin(), own.begin() + stored);
  return {
      {"parent", turn.parent},
      {"system", turn.system},
      {"user", turn.user},
      {"answer", turn.answer},
      {"shared", turn.shared},
      {"prompt", turn.prompt.size()},
      {"stored", stored},
      {"tokens", own},
      {"finish", name(turn.finish)}};
}

/// The tokens of a turn of version 2.
void read_tokens(
    const Json& json,
    std::span<const int32_t> record,
    ChatTurn& turn) {
  const auto stored = integer<int64_t>(json.at("stored"));
  const auto length = std::ssize(record);
  require(
      stored >= 0 &&
          (stored == 0 ||
           (turn.shared <= length && stored <= length - turn.shared)),
      "tokens stored that the record has");
  std::vector<int32_t> own;
  if (stored > 0) {
    const auto first = record.begin() + turn.shared;
    own.assign(first, first + stored);
  }
  const std::vector<int32_t> rest = ids_of(json.at("tokens"));
  own.insert(own.end(), rest.begin(), rest.end());
  const auto prompt = integer<int64_t>(json.at("prompt"));
  require(
      prompt >= 0 && prompt <= std::ssize(own),
      "a prompt among the turn's tokens");
  turn.prompt.assign(own.begin(), own.begin() + prompt);
  turn.ids.assign(own.begin() + prompt, own.end());
}

ChatTurn
turn_of(const Json& json, int64_t version, std::span<const int32_t> record) {
  ChatTurn turn{
      .parent = integer<int64_t>(json.at("parent")),
      .system = json.at("system").get<std::string>(),
      .user = json.at("user").get<std::string>(),
      .answer = json.at("answer").get<std::string>(),
      .shared = integer<int64_t>(json.at("shared")),
      .prompt = {},
      .ids = {},
      .finish = reason_of(json.at("finish").get<std::string>())};
  require(turn.shared >= 0, "tokens shared with the parent that it has");
  if (version == 1) {
    turn.prompt = ids_of(json.at("prompt"));
    turn.ids = ids_of(json.at("ids"));
  } else {
    read_tokens(json, record, turn);
  }
  return turn;
}

int64_t own_tokens(const ChatTurn& turn) {
  return std::ssize(turn.prompt) + std::ssize(turn.ids);
}

} // namespace

std::string ChatHistory::json() const {
  // Of each turn on the path: its tokens up to where a later one went on
  // otherwise, or to the end of the record's.
  std::vector<int64_t> stored(turns_.size(), 0);
  int64_t end = std::ssize(stored_tokens());
  for (int64_t at = current_; at != kNoTurn;
       at = turns_[static_cast<size_t>(at)].parent) {
    const ChatTurn& turn = turns_[static_cast<size_t>(at)];
    stored[static_cast<size_t>(at)] =
        std::clamp<int64_t>(end - turn.shared, 0, own_tokens(turn));
    end = std::min(end, turn.shared);
  }
  Json turns = Json::array();
  for (size_t i = 0; i < turns_.size(); ++i) {
    turns.push_back(turn_json(turns_[i], stored[i]));
  }
  return Json{
      {"version", kVersion},
      {"vocabulary", vocabulary},
      {"system", system},
      {"seed", seed},
      {"begun", begun},
      {"current", current_},
      {"turns", std::move(turns)}}
      .dump();
}

Result<ChatHistory>
ChatHistory::parse(const std::string& json, std::span<const int32_t> stored) {
  try {
    const Json all = parsed(json);
    const auto version = integer<int64_t>(all.at("version"));
    if (version < 1 || version > kVersion) {
      return Status(
          ErrorCode::kUnsupported,
          "[chat] expected a history of version 1 or 2, got version " +
              all.at("version").dump());
    }
    ChatHistory history;
    history.vocabulary = all.at("vocabulary").get<std::string>();
    history.system = all.at("system").get<std::string>();
    history.seed = integer<uint64_t>(all.at("seed"));
    history.begun = integer<int64_t>(all.at("begun"));
    std::vector<int64_t> lengths; // of each turn's sequence
    for (const Json& one : list(all.at("turns"))) {
      ChatTurn turn = turn_of(one, version, stored);
      require(
          turn.parent >= kNoTurn && turn.parent < std::ssize(lengths),
          "a parent before its turn");
      const int64_t before = turn.parent == kNoTurn
          ? 0
          : lengths[static_cast<size_t>(turn.parent)];
      require(
          turn.shared <= before, "tokens shared with the parent that it has");
      lengths.push_back(turn.shared + own_tokens(turn));
      history.turns_.push_back(std::move(turn));
    }
    const auto current = integer<int64_t>(all.at("current"));
    require(
        current >= kNoTurn && current < std::ssize(history.turns_),
        "a current turn that there is");
    history.current_ = current;
    if (version == 1 && !all.at("pending").is_null()) {
      const Json& asked = all.at("pending");
      history.pending = {
          asked.at("system").get<std::string>(),
          asked.at("user").get<std::string>()};
    }
    return history;
  } catch (const Json::exception& error) {
    return Status(
        ErrorCode::kCorrupt,
        std::string("[chat] expected a history, got: ") + error.what());
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

std::string ChatHistory::packed(const std::string& json) {
  const uint64_t size = json.size();
  const auto frame = zstd_packed(std::as_bytes(std::span(json)), kLevel);
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes.append(reinterpret_cast<const char*>(frame.data()), frame.size());
  return bytes;
}

Result<std::string> ChatHistory::unpacked(std::string_view bytes) {
  try {
    FieldReader reader(bytes, "[chat] ");
    const auto size =
        reader.number<uint64_t>("size of a packed history", 0, kMostJson);
    const auto frame = reader.take(reader.left(), "packed history");
    std::string json(static_cast<size_t>(size), '\0');
    const Status status =
        zstd_unpack(frame, std::as_writable_bytes(std::span(json)));
    return status.ok() ? Result<std::string>(std::move(json))
                       : Result<std::string>(status);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
