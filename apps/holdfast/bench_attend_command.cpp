// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <memory>
#include <optional>

#include "bench_attend_options.h"
#include "commands.h"
#include "console.h"
#include "errors.h"
#include "holdfast/measure/attend_trial.h"
#include "holdfast/measure/seconds.h"
#include "interrupt.h"
#include "json.h"

namespace holdfast::app {

namespace {

using measure::AttendBatch;
using measure::AttendCopies;
using measure::AttendMachine;
using measure::AttendShape;
using measure::DecodeTrial;
using measure::PrefillTrial;

constexpr const char* kExamples = R"(
Times attention over random state of one layer. Decode: one token a row over
chains of --positions, whose blocks lie scattered in memory and come from it,
beside a loop of the same threads that only reads those bytes, and beside bf16
state of the same shape; the three take turns. Prefill: --prefill tokens of one
row, as a share of multiplications that never leave the registers. The best turn
counts. The usual cases hold up to 4 GB; on the plain path they take long, so
name fewer.

Examples:
  holdfast bench attend
  holdfast bench attend --heads 8:1 --dim 128 --rows 1 --kv t4 --kv q8/t3
  holdfast bench attend --positions 131072 --rows 1 --prefill 0 --json
  holdfast bench attend --threads 1 --kernels avx512 --time 1000)";

struct Case {
  KvCodecs codecs;
  HeadCounts heads;
  int64_t dim = 0;

  AttendShape shape() const {
    return shape_of(codecs, heads, dim);
  }
  std::string kv() const {
    return to_string(KvChoice{codecs, codecs, Position(0)});
  }
  std::string ratio() const {
    return std::to_string(heads.query) + ":" + std::to_string(heads.kv);
  }
};

class AttendBench {
 public:
  AttendBench(
      const AttendArguments& arguments,
      const AttendCases& cases,
      const Runtime& runtime)
      : arguments_(arguments),
        cases_(cases),
        runtime_(runtime),
        machine_{runtime.executor.get(), runtime.path},
        total_(cases.lines(arguments.prefill > 0)) {}

  int run() {
    print_head(
        "decode       heads  dim  rows  kv            GB/s  memory  share"
        "   Mpos/s  x bf16\n");
    each_shape([&](const HeadCounts& heads, int64_t dim) {
      for (const int64_t rows : cases_.rows) {
        decode(heads, dim, rows);
      }
    });
    if (arguments_.prefill > 0 && !interrupt_.raised()) {
      print_head(
          "prefill      heads  dim        kv         TFLOP/s  registers  "
          "share     tok/s\n");
      each_shape([&](const HeadCounts& heads, int64_t dim) {
        for (const KvCodecs& codecs : cases_.codecs) {
          prefill({codecs, heads, dim});
        }
      });
    }
    return interrupt_.exit_code();
  }

 private:
  template <class F>
  void each_shape(F f) {
    for (const HeadCounts& heads : cases_.heads) {
      for (const int64_t dim : cases_.dims) {
        f(heads, dim);
      }
    }
  }

  /// Two turns, for the first finds caches and threads cold, and more for the
  /// time of a line; false where the user interrupts.
  bool measure(auto& trial) {
    line_.update(done_, total_);
    const double end =
        measure::seconds() + static_cast<double>(arguments_.milliseconds) / 1e3;
    for (int turns = 0; turns < 2 || measure::seconds() < end; ++turns) {
      if (interrupt_.raised()) {
        return false;
      }
      trial.turn();
    }
    ++done_;
    line_.clear();
    return true;
  }

  void decode(const HeadCounts& heads, int64_t dim, int64_t rows) {
    const AttendBatch batch{.rows = rows, .positions = arguments_.positions};
    const Codec* plain = find_codec("bf16").value();
    const KvCodecs usual{plain, plain};
    std::optional<AttendCopies> bf16; // of all codecs
    for (const KvCodecs& codecs : cases_.codecs) {
      if (interrupt_.raised()) {
        return;
      }
      if (!bf16) {
        line_.update(done_, total_);
        bf16.emplace(shape_of(usual, heads, dim), batch);
      }
      const Case one{codecs, heads, dim};
      std::optional<AttendCopies> own;
      if (codecs != usual) {
        own.emplace(one.shape(), batch);
      }
      DecodeTrial trial(own ? *own : *bf16, *bf16, machine_);
      if (measure(trial)) {
        print(one, rows, trial);
      }
    }
  }

  void prefill(const Case& one) {
    if (interrupt_.raised()) {
      return;
    }
    PrefillTrial trial(one.shape(), 0, arguments_.prefill, machine_);
    if (measure(trial)) {
      print(one, trial);
    }
  }

  void print_head(const char* columns) {
    if (!arguments_.json) {
      char text[160];
      std::snprintf(
          text,
          sizeof text,
          "%s, %d threads, %lld positions\n",
          name(runtime_.path),
          runtime_.executor->threads(),
          static_cast<long long>(arguments_.positions));
      write_out(done_ == 0 ? std::string(text) + columns : columns);
    }
  }

  /// What every line has.
  Json facts(const char* what, const Case& one) const {
    return Json{
        {"what", what},
        {"kernels", name(runtime_.path)},
        {"threads", runtime_.executor->threads()},
        {"kv", one.kv()},
        {"query_heads", one.heads.query},
        {"kv_heads", one.heads.kv},
        {"dim", one.dim}};
  }

  void print(const Case& one, int64_t rows, const DecodeTrial& trial) {
    if (arguments_.json) {
      Json json = facts("decode", one);
      json["rows"] = rows;
      json["positions"] = arguments_.positions;
      json["gb_s"] = trial.rate() / 1e9;
      json["read_gb_s"] = trial.read_rate() / 1e9;
      json["share"] = trial.share_of_read();
      json["positions_s"] = trial.positions_rate();
      json["step_us"] = trial.step_seconds() * 1e6;
      json["times_bf16"] = trial.times_others();
      write_out(json_line(json));
      return;
    }
    char text[160];
    std::snprintf(
        text,
        sizeof text,
        "             %5s %4lld %5lld  %-10s %7.1f %7.1f %5.0f%% %8.1f %7.2f\n",
        one.ratio().c_str(),
        static_cast<long long>(one.dim),
        static_cast<long long>(rows),
        one.kv().c_str(),
        trial.rate() / 1e9,
        trial.read_rate() / 1e9,
        100 * trial.share_of_read(),
        trial.positions_rate() / 1e6,
        trial.times_others());
    write_out(text);
  }

  void print(const Case& one, const PrefillTrial& trial) {
    const double share = trial.rate() / trial.register_rate();
    const double tokens =
        static_cast<double>(arguments_.prefill) / trial.step_seconds();
    if (arguments_.json) {
      Json json = facts("prefill", one);
      json["tokens"] = arguments_.prefill;
      json["tflops"] = trial.rate() / 1e12;
      json["register_tflops"] = trial.register_rate() / 1e12;
      json["share"] = share;
      json["tok_s"] = tokens;
      write_out(json_line(json));
      return;
    }
    char text[160];
    std::snprintf(
        text,
        sizeof text,
        "             %5s %4lld        %-10s %7.3f %10.3f %5.0f%% %9.0f\n",
        one.ratio().c_str(),
        static_cast<long long>(one.dim),
        one.kv().c_str(),
        trial.rate() / 1e12,
        trial.register_rate() / 1e12,
        100 * share,
        tokens);
    write_out(text);
  }

  const AttendArguments& arguments_;
  const AttendCases& cases_;
  const Runtime& runtime_;
  const AttendMachine machine_;
  const InterruptFlag interrupt_;
  ProgressLine line_{"measuring"};
  const int64_t total_;
  int64_t done_ = 0;
};

int run_bench(const AttendArguments& arguments) {
  const Runtime runtime = arguments.runtime.make();
  const AttendCases cases = read_cases(arguments, runtime.path);
  return AttendBench(arguments, cases, runtime).run();
}

} // namespace

void add_bench_attend(CLI::App& bench, Action& action) {
  CLI::App* command =
      bench.add_subcommand("attend", "Speed of attention over stored state");
  set_command<AttendArguments>(*command, action, kExamples, run_bench);
}

} // namespace holdfast::app
