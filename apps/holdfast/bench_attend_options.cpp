// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "bench_attend_options.h"

#include "errors.h"
#include "holdfast/kernels/cpu/attend.h"

namespace holdfast::app {

namespace {

// Blocks' bytes and their numbers stay far below 2^63.
constexpr int64_t kMostHeads = 1024;
constexpr int64_t kMostDim = 1024;
constexpr int64_t kMostRows = 4096;
constexpr int64_t kMostPositions = int64_t{1} << 24;
constexpr int64_t kMostMilliseconds = 3'600'000;

int64_t read_number(const char* name, const std::string& text, int64_t most) {
  try {
    const auto number = read_integer<int64_t>(name, text);
    require_within(name, number, 1, most);
    return number;
  } catch (const CLI::ConversionError& error) {
    throw UserError(error.what());
  }
}

/// Numbers as their option reads them.
std::vector<int64_t> read_numbers(
    const char* name,
    const std::vector<std::string>& texts,
    int64_t most) {
  std::vector<int64_t> numbers;
  for (const std::string& text : texts) {
    numbers.push_back(read_number(name, text, most));
  }
  return numbers;
}

HeadCounts read_heads(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw UserError(
        "--heads: expected QUERY:KV such as 8:1, got \"" + text + '"');
  }
  const HeadCounts heads{
      read_number("--heads", text.substr(0, colon), kMostHeads),
      read_number("--heads", text.substr(colon + 1), kMostHeads)};
  if (heads.query % heads.kv != 0) {
    throw UserError(
        "--heads: expected query heads that are a multiple of the key-value "
        "heads, got \"" +
        text + '"');
  }
  return heads;
}

KvCodecs read_codecs(const std::string& text) {
  const KvChoice choice = parse_kv_choice(text).value();
  if (choice.first != choice.then) {
    throw UserError(
        "--kv: expected KEYS[/VALUES] without a START, got \"" + text + '"');
  }
  return choice.then;
}

} // namespace

void AttendArguments::add_to(CLI::App& command) {
  runtime.add_to(command);
  not_empty(add_repeated(
                command,
                "--kv",
                kv,
                "Precision of the state, KEYS[/VALUES]; may be repeated "
                "(default bf16, q8, q4, t4, t3)"))
      ->type_name("NAME");
  add_repeated(
      command,
      "--heads",
      heads,
      "Query heads and the key-value heads they read; may be repeated "
      "(default 8:1, 4:1, 8:4, 8:8)")
      ->type_name("QUERY:KV");
  add_repeated(
      command,
      "--dim",
      dims,
      "Elements of a head; may be repeated (default 128, 256)")
      ->type_name("N");
  add_repeated(
      command,
      "--rows",
      rows,
      "Rows at once in decode; may be repeated (default 1, 8)")
      ->type_name("N");
  add_integer(
      command,
      "--positions",
      positions,
      "Positions that a row of decode holds (default 32768)");
  add_integer(
      command,
      "--prefill",
      prefill,
      "Tokens of a prefill to time; 0: none (default 4096)");
  add_integer(
      command,
      "--time",
      milliseconds,
      "Milliseconds that a line is measured (default 200)");
  command.add_flag("--json", json, "One object a line");
}

AttendCases read_cases(const AttendArguments& arguments, KernelPath path) {
  return users([&] {
    require_within("--positions", arguments.positions, 1, kMostPositions);
    require_within("--prefill", arguments.prefill, 0, kMostPositions);
    require_within("--time", arguments.milliseconds, 1, kMostMilliseconds);
    AttendCases cases;
    for (const std::string& text : arguments.kv) {
      cases.codecs.push_back(read_codecs(text));
    }
    for (const std::string& text : arguments.heads) {
      cases.heads.push_back(read_heads(text));
    }
    cases.dims = read_numbers("--dim", arguments.dims, kMostDim);
    cases.rows = read_numbers("--rows", arguments.rows, kMostRows);
    for (const int64_t dim : cases.dims) {
      for (const KvCodecs& codecs : cases.codecs) {
        codecs.keys->supports(ChannelRole::kKeys, dim).check();
        codecs.values->supports(ChannelRole::kValues, dim).check();
        cpu::supports_attend(
            shape_of(codecs, {1, 1}, dim).spec(),
            *codecs.keys,
            *codecs.values,
            path)
            .check();
      }
    }
    return cases;
  });
}

measure::AttendShape
shape_of(const KvCodecs& codecs, const HeadCounts& heads, int64_t dim) {
  return {
      .keys = codecs.keys,
      .values = codecs.values,
      .query_heads = heads.query,
      .kv_heads = heads.kv,
      .dim = dim};
}

} // namespace holdfast::app
