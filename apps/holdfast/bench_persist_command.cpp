// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench_process.h"
#include "commands.h"
#include "console.h"
#include "holdfast/measure/disk_rate.h"
#include "holdfast/measure/persist_trial.h"
#include "json.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
Two chats decode turns of --gen tokens in turn; one is kept on disk: its time has
the put of its last turn, and the disk works at that turn meanwhile. The cost is
the median of kept / plain - 1, and where it lies in 19 of 20 such runs, by
the order of the turns' costs. A turn may write the state of its tokens and an
open block. Then rows of random state, --flush-bytes in all, are put and flushed,
beside what the device writes past the system's memory (O_DIRECT and a sync, the
best of 1, 4, 8 and 16 requests at a time). All of it in a folder below --folder,
removed at the end.

Examples:
  holdfast bench persist -m model.gguf
  holdfast bench persist -m model.gguf --kv q4 --turns 20 --json
  holdfast bench persist -m model.gguf --turns 0 --flush-bytes 4000000000)";

struct PersistArguments {
  ModelOptions model;
  int64_t depth = 1024;
  int64_t generate = 128;
  int64_t turns = 8;
  int64_t flush_bytes = 1'000'000'000;
  std::string folder;
  bool json = false;

  void add_to(CLI::App& command) {
    model.add_to(command);
    const auto number =
        [&](const char* name, int64_t& value, const char* description) {
          add_integer(command, name, value, description);
        };
    number("--depth", depth, "Tokens before the first turn (default 1024)");
    number("--gen", generate, "Tokens that a turn decodes (default 128)");
    number("--turns", turns, "Turns of each chat; 0: none (default 8)");
    number(
        "--flush-bytes",
        flush_bytes,
        "Bytes of state to flush; 0: none (default 1000000000)");
    add_bench_folder(command, folder);
    command.add_flag("--json", json, "One object a line");
  }
  void validate() const {
    model.validate();
    require_within("--depth", depth, 1, int64_t{1} << 24);
    require_within("--gen", generate, 1, int64_t{1} << 20);
    require_within("--turns", turns, 0, 100'000);
    require_within("--flush-bytes", flush_bytes, 0, int64_t{1} << 40);
  }
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Range {
  double low = 0;
  double high = 0;
};

/// Where the median of all turns that could be measured lies, in 19 of 20 runs:
/// so many turns of n are below it as heads fall in n throws, which is n / 2
/// and 1.96 sqrt(n) / 2 more or less.
Range range_of_median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  const auto below = static_cast<int64_t>(count / 2 - 0.98 * std::sqrt(count));
  const int64_t from = std::clamp<int64_t>(below, 0, std::ssize(values) - 1);
  return {*(values.begin() + from), *(values.end() - 1 - from)};
}

/// What the turns took and wrote, one by one.
struct Costs {
  std::vector<double> cost; // kept / plain - 1
  std::vector<double> plain; // seconds
  std::vector<double> kept; // seconds
  std::vector<double> written; // bytes

  void add(const measure::PersistTrial::Turn& turn) {
    cost.push_back(turn.kept / turn.plain - 1);
    plain.push_back(turn.plain);
    kept.push_back(turn.kept);
    written.push_back(static_cast<double>(turn.written.get()));
  }
};

class PersistBench {
 public:
  explicit PersistBench(const PersistArguments& arguments)
      : arguments_(arguments),
        folder_(arguments.folder),
        loaded_(arguments.model.load(load_ms_)) {}

  int run() {
    try {
      if (arguments_.turns > 0) {
        turns();
      }
      if (arguments_.flush_bytes > 0) {
        stop_if(interrupt_);
        flush();
      }
    } catch (const Interrupted&) {
    }
    return interrupt_.exit_code();
  }

 private:
  measure::RestoreSetup setup(const char* name) const {
    measure::RestoreSetup setup;
    setup.state = arguments_.model.state;
    setup.state.weights = "measured";
    setup.folder = folder_.path() + "/" + name;
    setup.chunk = arguments_.model.chunk;
    return setup;
  }

  /// The fields that every line has.
  Json facts(const char* what) const {
    return Json{
        {"what", what},
        {"kv", arguments_.model.state.name()},
        {"kernels", name(loaded_.runtime.path)},
        {"threads", loaded_.runtime.executor->threads()}};
  }

  void turns() {
    Costs all;
    ProgressLine line("decoding");
    line.update(0, arguments_.turns + 1);
    measure::PersistTrial trial(loaded_, setup("turns"), arguments_.depth);
    trial.turn(arguments_.generate); // its put finds nothing to write
    for (int64_t i = 0; i < arguments_.turns; ++i) {
      stop_if(interrupt_);
      line.update(i + 1, arguments_.turns + 1);
      all.add(trial.turn(arguments_.generate));
    }
    line.clear();
    print(all, trial.state_of(arguments_.generate), trial.tail_bytes());
  }

  void print(const Costs& all, Bytes state, Bytes tail) const {
    const auto tokens = static_cast<double>(arguments_.generate);
    const Range range = range_of_median(all.cost);
    Json json = facts("decode");
    json["gen"] = arguments_.generate;
    json["turns"] = arguments_.turns;
    json["plain_tok_s"] = tokens / median(all.plain);
    json["kept_tok_s"] = tokens / median(all.kept);
    json["cost"] = median(all.cost);
    json["cost_low"] = range.low;
    json["cost_high"] = range.high;
    json["turn_bytes"] = median(all.written);
    json["state_bytes"] = state.get();
    json["tail_bytes"] = tail.get();
    json["turn_share"] =
        median(all.written) / static_cast<double>((state + tail).get());
    if (arguments_.json) {
      write_out(json_line(json));
      return;
    }
    char text[300];
    std::snprintf(
        text,
        sizeof text,
        "decode  %7.1f tok/s plain, %7.1f kept: cost %.2f %% (%.2f to %.2f)\n"
        "turn    %7.2f MB written; %.2f MB are the state of %lld tokens, %.2f "
        "MB an open block: %.0f %%\n",
        json["plain_tok_s"].get<double>(),
        json["kept_tok_s"].get<double>(),
        100 * json["cost"].get<double>(),
        100 * range.low,
        100 * range.high,
        json["turn_bytes"].get<double>() / 1e6,
        json["state_bytes"].get<double>() / 1e6,
        static_cast<long long>(arguments_.generate),
        json["tail_bytes"].get<double>() / 1e6,
        100 * json["turn_share"].get<double>());
    write_out(text);
  }

  void flush() {
    ProgressLine line("writing");
    line.update(0, 1);
    const auto flushed = measure::flush_rows(
        loaded_, setup("flush"), Bytes(arguments_.flush_bytes));
    stop_if(interrupt_);
    const measure::DiskRate disk =
        measure::disk_write_rate(folder_.path(), flushed.bytes);
    line.clear();
    const double rate =
        static_cast<double>(flushed.bytes.get()) / flushed.seconds;
    Json json = facts("flush");
    json["bytes"] = flushed.bytes.get();
    json["seconds"] = flushed.seconds;
    json["gb_s"] = rate / 1e9;
    json["disk_gb_s"] = disk.bytes_s / 1e9;
    json["disk_in_flight"] = disk.in_flight;
    json["share"] = rate / disk.bytes_s;
    if (arguments_.json) {
      write_out(json_line(json));
      return;
    }
    char text[200];
    std::snprintf(
        text,
        sizeof text,
        "flush   %7.1f MB in %.2f s: %.2f GB/s; the device writes %.2f (%d at "
        "a time): %.0f %%\n",
        static_cast<double>(flushed.bytes.get()) / 1e6,
        flushed.seconds,
        rate / 1e9,
        disk.bytes_s / 1e9,
        disk.in_flight,
        100 * json["share"].get<double>());
    write_out(text);
  }

  const PersistArguments& arguments_;
  const InterruptFlag interrupt_;
  const BenchFolder folder_;
  double load_ms_ = 0;
  const LoadedModel loaded_;
};

} // namespace

void add_bench_persist(CLI::App& bench, Action& action) {
  CLI::App* command =
      bench.add_subcommand("persist", "Cost of keeping state on disk");
  set_command<PersistArguments>(
      *command, action, kExamples, [](PersistArguments& arguments) {
        arguments.validate();
        return PersistBench(arguments).run();
      });
}

} // namespace holdfast::app
