// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What `holdfast bench attend` is told. Values; one thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/codec/kv_choice.h"
#include "holdfast/measure/attend_rows.h"
#include "options.h"

namespace holdfast::app {

/// Query heads that read key-value heads.
struct HeadCounts {
  int64_t query = 0;
  int64_t kv = 0;
};

struct AttendArguments {
  RuntimeOptions runtime;
  std::vector<std::string> kv{"bf16", "q8", "q4", "t4", "t3"};
  std::vector<std::string> heads{"8:1", "4:1", "8:4", "8:8"};
  std::vector<std::string> dims{"128", "256"};
  std::vector<std::string> rows{"1", "8"};
  int64_t positions = 32768;
  int64_t prefill = 4096; // tokens; 0: not measured
  int64_t milliseconds = 200; // of a line
  bool json = false;

  void add_to(CLI::App& command);
};

/// The same, read and checked.
struct AttendCases {
  std::vector<KvCodecs> codecs;
  std::vector<HeadCounts> heads;
  std::vector<int64_t> dims;
  std::vector<int64_t> rows;

  int64_t lines(bool prefill) const {
    const size_t shapes = codecs.size() * heads.size() * dims.size();
    return static_cast<int64_t>(shapes * (rows.size() + (prefill ? 1 : 0)));
  }
};

/// Throws UserError: values out of range, a codec with a START or that does not
/// fit a head size, heads that do not divide.
AttendCases read_cases(const AttendArguments& arguments, KernelPath path);

measure::AttendShape
shape_of(const KvCodecs& codecs, const HeadCounts& heads, int64_t dim);

} // namespace holdfast::app
