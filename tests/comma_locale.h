// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// While it lives, streams write 4096.5 as "4.096,5", as some people's locale
// has it. One at a time.

#pragma once

#include <locale>
#include <string>

namespace holdfast::test {

class CommaLocale {
 public:
  CommaLocale()
      : before_(std::locale::global(
            std::locale(std::locale::classic(), new Numbers))) {}
  ~CommaLocale() {
    std::locale::global(before_);
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

 private:
  class Numbers : public std::numpunct<char> {
    char do_decimal_point() const override {
      return ',';
    }
    char do_thousands_sep() const override {
      return '.';
    }
    std::string do_grouping() const override {
      return "\3";
    }
  };
  std::locale before_;
};

} // namespace holdfast::test
