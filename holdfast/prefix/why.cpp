// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/why.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace holdfast {

namespace {

std::string number(Position position) {
  return std::to_string(position.get());
}

std::string text_of(const Evicted& evicted) {
  const auto seconds =
      static_cast<std::time_t>(evicted.wall_ns / 1'000'000'000);
  std::tm parts{};
  std::array<char, 32> text{};
  gmtime_r(&seconds, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return std::string("evicted by ") + words(evicted.by) + " at " + text.data();
}

std::string end_text(const Why& why) {
  const std::string at = number(why.matched);
  switch (why.end) {
    case Why::End::kPrompt:
      return "";
    case Why::End::kNothing:
      return "nothing is stored for this model";
    case Why::End::kDiffers:
      if (why.expected == why.got) {
        return "media or spans differ from position " + at + " on";
      }
      return "token " + at + " differs: expected " +
          std::to_string(why.expected.value_or(0)) + ", got " +
          std::to_string(why.got.value_or(0));
    case Why::End::kStops:
      return "what is stored ends at " + at;
    case Why::End::kEvicted:
      return "from " + at + " on " +
          text_of(why.end_evicted.value_or(Evicted()));
  }
  return "";
}

std::string gap_text(const Why& why) {
  const std::string where = "block " + std::to_string(why.gap_block.get()) +
      " of layer group " + std::to_string(why.gap_group);
  switch (why.gap) {
    case Why::Gap::kNone:
      return "";
    case Why::Gap::kLastToken:
      return "the last token is always computed";
    case Why::Gap::kSpan:
      return "a bidirectional span is reused whole or not at all";
    case Why::Gap::kForeign:
      return "another engine's state is reused whole or not at all";
    case Why::Gap::kPrecision:
      return "a cold run would store " + where + " in another precision";
    case Why::Gap::kMissing:
      return where + " is not kept";
    case Why::Gap::kSnapshot:
      return "recurrent snapshot missing: " + where;
    case Why::Gap::kEvicted:
      return where + " " + text_of(why.gap_evicted.value_or(Evicted()));
    case Why::Gap::kWriting:
      return where + " is being written";
    case Why::Gap::kUnreadable:
      return where + " is unreadable on disk";
  }
  return "";
}

} // namespace

const char* name(Why::End end) {
  static constexpr std::array<const char*, Why::kEnds> kNames{
      "prompt", "nothing", "differs", "stops", "evicted"};
  return kNames[static_cast<size_t>(end)];
}

const char* name(Why::Gap gap) {
  static constexpr std::array<const char*, Why::kGaps> kNames{
      "none",
      "last token",
      "span",
      "foreign",
      "precision",
      "missing",
      "snapshot",
      "evicted",
      "writing",
      "unreadable"};
  return kNames[static_cast<size_t>(gap)];
}

std::string Why::line() const {
  std::string text =
      "reused " + number(usable) + " of " + number(asked) + " tokens";
  if (usable > Position(0)) {
    text += " (" + number(from_ram) + " from RAM, " + number(from_disk) +
        " from SSD)";
  }
  const char* before = ": ";
  const std::string other = other_scope.empty() ? ""
                                                : number(other_matched) +
          " are known under another signature, " + other_scope;
  for (const std::string& part : {end_text(*this), gap_text(*this), other}) {
    if (!part.empty()) {
      text += before + part;
      before = "; ";
    }
  }
  return text;
}

} // namespace holdfast
