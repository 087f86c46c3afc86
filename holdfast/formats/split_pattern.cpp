// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/split_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "holdfast/base/check.h"

namespace holdfast {
namespace {

constexpr size_t kMostPatternBytes = 65536;
constexpr size_t kFirstStackBytes = 32768;
constexpr size_t kMostStackBytes = size_t{1} << 20;

struct Free {
  void operator()(pcre2_code* code) const {
    pcre2_code_free(code);
  }
  void operator()(pcre2_compile_context* context) const {
    pcre2_compile_context_free(context);
  }
  void operator()(pcre2_match_context* context) const {
    pcre2_match_context_free(context);
  }
  void operator()(pcre2_match_data* data) const {
    pcre2_match_data_free(data);
  }
  void operator()(pcre2_jit_stack* stack) const {
    pcre2_jit_stack_free(stack);
  }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

std::string message(int code) {
  std::array<PCRE2_UCHAR, 128> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

Status unsupported(const std::string& text) {
  return {ErrorCode::kUnsupported, text};
}

} // namespace

struct SplitPattern::Code {
  std::string literal; // not empty: this text, and no code
  Owned<pcre2_code> code;
  bool compiled = false; // to machine code
};

namespace {

/// kUnsupported for what PCRE2 refuses.
Result<Owned<pcre2_code>> compiled(std::string_view pattern) {
  const Owned<pcre2_compile_context> context(
      pcre2_compile_context_create(nullptr));
  ensure(context != nullptr, "[tokenizer] expected memory for a pattern");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE place = 0;
  Owned<pcre2_code> code(pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(pattern.data()),
      pattern.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C,
      &error,
      &place,
      context.get()));
  if (code == nullptr) {
    return unsupported(
        "expected a pattern, got " + message(error) + " at byte " +
        std::to_string(place));
  }
  uint32_t empty = 0;
  pcre2_pattern_info(code.get(), PCRE2_INFO_MATCHEMPTY, &empty);
  if (empty != 0) {
    return unsupported("expected a pattern that needs a character, got none");
  }
  return code;
}

} // namespace

Result<SplitPattern> SplitPattern::compile(std::string_view pattern) {
  if (pattern.empty() || pattern.size() > kMostPatternBytes) {
    return unsupported(
        "expected a pattern of 1 to 65536 bytes, got " +
        std::to_string(pattern.size()));
  }
  try {
    auto code = compiled(pcre2_of(pattern));
    if (!code.ok()) {
      return code.status();
    }
    auto result = std::make_shared<Code>();
    result->code = std::move(code).value();
    // Without machine code (a system that forbids it) PCRE2 interprets.
    result->compiled =
        pcre2_jit_compile(result->code.get(), PCRE2_JIT_COMPLETE) == 0;
    return SplitPattern(std::move(result));
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

SplitPattern SplitPattern::literal(std::string_view text) {
  auto result = std::make_shared<Code>();
  result->literal = text;
  return SplitPattern(std::move(result));
}

SplitPattern SplitPattern::own(const char* pattern) {
  auto result = std::make_shared<Code>();
  result->code = compiled(pattern).value();
  result->compiled =
      pcre2_jit_compile(result->code.get(), PCRE2_JIT_COMPLETE) == 0;
  return SplitPattern(std::move(result));
}

struct PatternMatcher::Memory {
  Owned<pcre2_match_context> context;
  Owned<pcre2_jit_stack> stack;
  Owned<pcre2_match_data> data;
};

PatternMatcher::PatternMatcher() : memory_(std::make_shared<Memory>()) {
  memory_->context.reset(pcre2_match_context_create(nullptr));
  memory_->stack.reset(
      pcre2_jit_stack_create(kFirstStackBytes, kMostStackBytes, nullptr));
  memory_->data.reset(pcre2_match_data_create(1, nullptr));
  ensure(
      memory_->context && memory_->stack && memory_->data,
      "[tokenizer] expected memory to match patterns");
  pcre2_jit_stack_assign(memory_->context.get(), nullptr, memory_->stack.get());
}

std::optional<PatternMatch> PatternMatcher::find(
    const SplitPattern& pattern,
    std::string_view text,
    size_t place) {
  const SplitPattern::Code& code = *pattern.code_;
  if (!code.literal.empty()) {
    const size_t found = text.find(code.literal, place);
    return found == text.npos
        ? std::nullopt
        : std::optional<PatternMatch>({found, found + code.literal.size()});
  }
  const uint64_t steps = kMatchSteps + uint64_t{8} * text.size();
  pcre2_set_match_limit(
      memory_->context.get(),
      static_cast<uint32_t>(std::min<uint64_t>(steps, UINT32_MAX)));
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  const auto match = code.compiled ? pcre2_jit_match : pcre2_match;
  const int found = match(
      code.code.get(),
      subject,
      text.size(),
      place,
      PCRE2_NO_UTF_CHECK,
      memory_->data.get(),
      memory_->context.get());
  if (found == PCRE2_ERROR_NOMATCH) {
    return std::nullopt;
  }
  if (found < 0) {
    throw Error(
        ErrorCode::kOutOfBudget,
        "[tokenizer] expected a text that the vocabulary's pattern cuts "
        "within its limits, got " +
            message(found));
  }
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(memory_->data.get());
  return PatternMatch{ends[0], ends[1]};
}

} // namespace holdfast
