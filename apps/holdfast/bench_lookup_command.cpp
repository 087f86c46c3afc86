// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench_process.h"
#include "commands.h"
#include "console.h"
#include "errors.h"
#include "holdfast/measure/lookup_index.h"
#include "holdfast/measure/seconds.h"
#include "json.h"

namespace holdfast::app {

namespace {

using measure::LookupIndex;
using measure::LookupTrial;

constexpr const char* kExamples = R"(
Makes a prefix index of --blocks blocks of 64 random tokens, as after a restart,
and times lookups of prompts that agree with a chat in so many blocks: prompts
that end there, and ones as long as a chat that go on with other tokens. The
processor's caches are filled with something else before each turn. Half of the
lookups took no longer than the median, 99 of 100 no longer than p99; a lookup
is allowed 50 us and 1 us a block. A million blocks take some 2 GB.

Examples:
  holdfast bench lookup
  holdfast bench lookup --blocks 100000 --matched 100 --json)";

constexpr int64_t kMostBlocks = int64_t{1} << 26;
constexpr int64_t kMostChatBlocks = int64_t{1} << 18;
constexpr int64_t kMostMilliseconds = 3'600'000;

struct LookupArguments {
  int64_t blocks = int64_t{1} << 20;
  int64_t chat_blocks = 512;
  std::vector<std::string> matched{"0", "1", "16", "64", "512"};
  int64_t milliseconds = 500; // of a line
  bool json = false;

  void add_to(CLI::App& command) {
    add_integer(
        command,
        "--blocks",
        blocks,
        "Blocks in the index, in whole chats (default 1048576)");
    add_integer(
        command,
        "--chat-blocks",
        chat_blocks,
        "Blocks of each chat (default 512, which are 32768 tokens)");
    add_repeated(
        command,
        "--matched",
        matched,
        "Leading blocks in which a prompt agrees with a chat; may be repeated "
        "(default 0, 1, 16, 64, 512)")
        ->type_name("N");
    add_integer(
        command,
        "--time",
        milliseconds,
        "Milliseconds that a line is measured (default 500)");
    command.add_flag("--json", json, "One object a line");
  }
};

/// Checked.
std::vector<int64_t> read_matched(const LookupArguments& arguments) {
  require_within("--blocks", arguments.blocks, 1, kMostBlocks);
  require_within("--chat-blocks", arguments.chat_blocks, 1, kMostChatBlocks);
  require_within("--time", arguments.milliseconds, 1, kMostMilliseconds);
  std::vector<int64_t> result;
  for (const std::string& text : arguments.matched) {
    try {
      result.push_back(read_integer<int64_t>("--matched", text));
    } catch (const CLI::ConversionError& error) {
      throw UserError(error.what());
    }
    require_within("--matched", result.back(), 0, arguments.chat_blocks);
  }
  return result;
}

class LookupBench {
 public:
  explicit LookupBench(const LookupArguments& arguments)
      : arguments_(arguments), matched_(read_matched(arguments)) {}

  int run() {
    try {
      measure();
    } catch (const Interrupted&) {
    }
    return interrupt_.exit_code();
  }

 private:
  void measure() {
    ProgressLine making("making the index");
    LookupIndex index(
        {arguments_.blocks, arguments_.chat_blocks},
        [&](int64_t done, int64_t total) {
          stop_if(interrupt_);
          making.update(done, total);
        });
    making.clear();
    print_head(index);
    for (const int64_t matched : matched_) {
      for (const auto end :
           {LookupTrial::End::kPrompt, LookupTrial::End::kDiffers}) {
        if (interrupt_.raised()) {
          return;
        }
        if (end == LookupTrial::End::kDiffers &&
            matched == index.chat_blocks()) {
          continue; // nothing is left to differ
        }
        one(index, matched, end);
      }
    }
  }

  void one(LookupIndex& index, int64_t matched, LookupTrial::End end) {
    LookupTrial trial(index, matched, end);
    const double until =
        measure::seconds() + static_cast<double>(arguments_.milliseconds) / 1e3;
    do {
      trial.turn();
    } while (measure::seconds() < until && !interrupt_.raised());
    print(index, matched, end, trial);
  }

  void print_head(const LookupIndex& index) const {
    if (arguments_.json) {
      return;
    }
    const TreeStats stats = index.stats();
    char text[200];
    std::snprintf(
        text,
        sizeof text,
        "%lld blocks, %lld bytes a block in the index\n"
        "matched  then        median us   p99 us  allowed us\n",
        static_cast<long long>(stats.nodes),
        static_cast<long long>(stats.index_bytes.get() / stats.nodes));
    write_out(text);
  }

  void print(
      const LookupIndex& index,
      int64_t matched,
      LookupTrial::End end,
      const LookupTrial& trial) const {
    const char* then = end == LookupTrial::End::kPrompt ? "ends" : "differs";
    const double allowed = 50 + static_cast<double>(matched);
    if (arguments_.json) {
      const TreeStats stats = index.stats();
      write_out(json_line(Json{
          {"blocks", stats.nodes},
          {"index_bytes", stats.index_bytes.get()},
          {"matched", matched},
          {"then", then},
          {"median_us", trial.median() * 1e6},
          {"p99_us", trial.p99() * 1e6},
          {"allowed_us", allowed}}));
      return;
    }
    char text[120];
    std::snprintf(
        text,
        sizeof text,
        "%7lld  %-8s %12.1f %8.1f %11.0f\n",
        static_cast<long long>(matched),
        then,
        trial.median() * 1e6,
        trial.p99() * 1e6,
        allowed);
    write_out(text);
  }

  const LookupArguments& arguments_;
  const std::vector<int64_t> matched_;
  const InterruptFlag interrupt_;
};

} // namespace

void add_bench_lookup(CLI::App& bench, Action& action) {
  CLI::App* command = bench.add_subcommand(
      "lookup", "Time of finding a prompt's state in a large index");
  set_command<LookupArguments>(
      *command, action, kExamples, [](LookupArguments& arguments) {
        return LookupBench(arguments).run();
      });
}

} // namespace holdfast::app
