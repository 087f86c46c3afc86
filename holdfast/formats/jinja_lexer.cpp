// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_literal.h"
#include "holdfast/formats/jinja_text.h"

namespace holdfast::jinja {

namespace {

/// Every line's end becomes '\n'; one at the very end goes.
std::string normalized(std::string_view source) {
  std::string result;
  result.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      result += '\n';
      i += i + 1 < source.size() && source[i + 1] == '\n' ? 1 : 0;
    } else {
      result += source[i];
    }
  }
  if (result.ends_with('\n')) {
    result.pop_back();
  }
  return result;
}

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalized(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      data();
    }
    add(TokenType::kEnd);
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const {
    return std::string_view(source_).substr(at_);
  }
  bool at(std::string_view text) const {
    return rest().starts_with(text);
  }

  void add(TokenType type, std::string text = "") {
    Token token;
    token.type = type;
    token.text = std::move(text);
    token.line = line_;
    tokens_.push_back(std::move(token));
  }
  void pass(size_t count) {
    const std::string_view passed = rest().substr(0, count);
    line_ += static_cast<int>(std::ranges::count(passed, '\n'));
    line_starts_ = passed.ends_with('\n');
    at_ += passed.size();
  }
  void pass_spaces() {
    pass(leading_spaces(rest()));
  }

  /// Text up to the next tag, and the tag.
  void data() {
    size_t tag = at_;
    do {
      tag = source_.find('{', tag);
    } while (tag != source_.npos && !opens(tag) && ++tag != 0);
    if (tag == source_.npos) {
      add_data(source_.substr(at_));
      pass(source_.npos);
      return;
    }
    const char kind = source_[tag + 1];
    text_before(tag, kind != '{');
    pass(2 + sign_length());
    if (kind == '#') {
      comment();
    } else if (kind == '{') {
      expression(TokenType::kVariableBegin, TokenType::kVariableEnd);
    } else if (!raw()) {
      expression(TokenType::kBlockBegin, TokenType::kBlockEnd);
    }
  }
  bool opens(size_t tag) const {
    const char next = tag + 1 < source_.size() ? source_[tag + 1] : ' ';
    return next == '%' || next == '{' || next == '#';
  }
  size_t sign_length() const {
    const char next = at_ + 2 < source_.size() ? source_[at_ + 2] : ' ';
    return next == '-' || next == '+' ? 1 : 0;
  }

  void add_data(std::string text) {
    if (!text.empty()) {
      add(TokenType::kData, std::move(text));
    }
  }

  /// The text from here to the tag at `end`, without what the tag takes.
  void text_before(size_t end, bool strips_blanks) {
    const std::string_view text =
        std::string_view(source_).substr(at_, end - at_);
    const char sign = end + 2 < source_.size() ? source_[end + 2] : ' ';
    std::string_view kept = text;
    if (sign == '-') {
      kept = text.substr(0, text.size() - trailing_spaces(text));
    } else if (sign != '+' && strips_blanks) {
      const size_t line = text.rfind('\n') + 1; // 0 where there is none
      const std::string_view begun = text.substr(line);
      if ((line > 0 || line_starts_) && leading_spaces(begun) == begun.size()) {
        kept = text.substr(0, line);
      }
    }
    add_data(std::string(kept));
    pass(text.size());
  }

  void comment() {
    const size_t end = source_.find("#}", at_);
    if (end == source_.npos) {
      refuse_syntax(line_, "expected the end of a comment, got none");
    }
    const char sign = end > at_ ? source_[end - 1] : ' ';
    pass(end + 2 - at_);
    after_tag(sign, true);
  }

  /// What the end of a tag takes of the text after it.
  void after_tag(char sign, bool trims_line) {
    if (sign == '-') {
      pass_spaces();
    } else if (sign != '+' && trims_line && at("\n")) {
      pass(1);
    }
  }

  /// The end of a tag at `from`: white space, then one of the signs and "%}".
  /// Returns the length, 0 where there is none.
  size_t tag_end(size_t from, char& sign) const {
    size_t end = from + leading_spaces(std::string_view(source_).substr(from));
    sign = end < source_.size() ? source_[end] : ' ';
    end += sign == '-' || sign == '+' ? 1 : 0;
    const bool ends = std::string_view(source_).substr(end).starts_with("%}");
    return ends ? end + 2 - from : 0;
  }
  /// The length of white space and a word at `from`, 0 where it is another.
  size_t word(size_t from, std::string_view wanted) const {
    const std::string_view text = std::string_view(source_).substr(from);
    const size_t spaces = leading_spaces(text);
    return text.substr(spaces).starts_with(wanted) ? spaces + wanted.size() : 0;
  }

  /// Right behind "{%": a whole raw block, or nothing.
  bool raw() {
    char sign = ' ';
    const size_t name = word(at_, "raw");
    const size_t end = name > 0 ? tag_end(at_ + name, sign) : 0;
    if (end == 0 || sign == '+') {
      return false;
    }
    pass(name + end);
    after_tag(sign, false);
    for (size_t tag = source_.find("{%", at_); tag != source_.npos;
         tag = source_.find("{%", tag + 1)) {
      const char first = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
      const size_t from = tag + 2 + (first == '-' || first == '+' ? 1 : 0);
      const size_t closing = word(from, "endraw");
      const size_t close = closing > 0 ? tag_end(from + closing, sign) : 0;
      if (close > 0) {
        text_before(tag, true);
        pass(from + closing + close - tag);
        after_tag(sign, true);
        return true;
      }
    }
    refuse_syntax(line_, "expected {% endraw %}, got none");
  }

  void expression(TokenType begin, TokenType end) {
    const bool block = begin == TokenType::kBlockBegin;
    const std::string_view close = block ? "%}" : "}}";
    add(begin);
    open_.clear();
    while (at_ < source_.size()) {
      pass_spaces();
      const bool signed_end = at_ < source_.size() &&
          (source_[at_] == '-' || (block && source_[at_] == '+')) &&
          rest().substr(1).starts_with(close);
      if (open_.empty() && (signed_end || at(close))) {
        add(end);
        const char sign = signed_end ? source_[at_] : ' ';
        pass((signed_end ? 1 : 0) + close.size());
        after_tag(sign, block);
        return;
      }
      if (at_ < source_.size()) {
        token();
      }
    }
    refuse_syntax(
        line_,
        "expected " + std::string(close) + ", got the end of the template");
  }

  void token() {
    const char c = source_[at_];
    size_t length = 0;
    if (is_digit(c)) {
      tokens_.push_back(number_literal(rest(), line_, length));
    } else if (c == '\'' || c == '"') {
      tokens_.push_back(text_literal(rest(), line_, length));
    } else if (is_name_start(c)) {
      while (at_ + length < source_.size() &&
             (is_name_start(source_[at_ + length]) ||
              is_digit(source_[at_ + length]))) {
        ++length;
      }
      add(TokenType::kName, source_.substr(at_, length));
    } else {
      length = operation();
    }
    pass(length);
  }

  size_t operation() {
    constexpr std::array<std::string_view, 6> kLong = {
        "//", "**", "==", "!=", ">=", "<="};
    const auto two = std::ranges::find_if(
        kLong, [this](std::string_view one) { return at(one); });
    const std::string text(two != kLong.end() ? *two : rest().substr(0, 1));
    if (static_cast<unsigned char>(text[0]) >= 0x80) {
      refuse_unsupported(line_, "expected names in ASCII, got another letter");
    }
    if (std::string_view("+-/*%~[](){}><=.:|,;").find(text[0]) ==
            std::string_view::npos &&
        text != "!=") {
      refuse_syntax(line_, "expected an operator, got " + text);
    }
    balance(text[0]);
    add(TokenType::kOperator, text);
    return text.size();
  }

  void balance(char c) {
    constexpr std::string_view kOpen = "([{";
    constexpr std::string_view kClose = ")]}";
    if (kOpen.find(c) != kOpen.npos) {
      open_ += c;
    } else if (const size_t kind = kClose.find(c); kind != kClose.npos) {
      if (open_.empty() || open_.back() != kOpen[kind]) {
        refuse_syntax(
            line_, std::string("expected no '") + c + "' here, got one");
      }
      open_.pop_back();
    }
  }

  const std::string source_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starts_ = true; // what was passed last ended a line
  std::string open_; // brackets of this expression
  std::vector<Token> tokens_;
};

} // namespace

void refuse_syntax(int line, const std::string& text) {
  throw Error(
      ErrorCode::kCorrupt,
      "[template] line " + std::to_string(line) + ": " + text);
}

void refuse_unsupported(int line, const std::string& text) {
  throw Error(
      ErrorCode::kUnsupported,
      "[template] line " + std::to_string(line) + ": " + text);
}

std::vector<Token> lex(std::string_view source) {
  return Lexer(source).run();
}

} // namespace holdfast::jinja
