// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench_process.h"
#include "commands.h"
#include "console.h"
#include "errors.h"
#include "holdfast/env/direct_file.h"
#include "holdfast/measure/disk_rate.h"
#include "holdfast/measure/restore_trial.h"
#include "holdfast/measure/seconds.h"
#include "json.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
Computes a prompt of random tokens and keeps its state in a folder; then new
processes, one after the other, go on from it: with the folder's files in memory
(warm), and after the system forgot them (cold). The time to the first token
counts from the loaded model: state, folder and index opened, a row begun with
what is known, the last token of the prompt computed. Cold, the images that the
row needs, over the time of its beginning, stand beside the rate at which the
device reads the same files past the system's memory (O_DIRECT, the best of 1,
4, 8 and 16 requests at a time). A warm and a cold process take turns; the best
counts. A folder below --folder, removed at the end, takes the state of the
prompt: 18 KiB a token of the demo model as bf16.

Examples:
  holdfast bench restore -m model.gguf
  holdfast bench restore -m model.gguf --prompt 8192 --kv q4 --json
  holdfast bench restore -m model.gguf --folder /mnt/disk --repeat 5)";

struct RestoreArguments {
  ModelOptions model;
  std::vector<std::string> kv{"bf16", "q4"};
  int64_t prompt = 32768;
  int64_t repeat = 3;
  std::string folder;
  bool json = false;

  void add_to(CLI::App& command) {
    add_model_path(command, model.path);
    model.runtime.add_to(command);
    add_integer(
        command,
        "--chunk",
        model.chunk,
        "Most prompt tokens in one step (default 512)");
    not_empty(add_repeated(
                  command,
                  "--kv",
                  kv,
                  "Precision of the state; may be repeated (default bf16, q4)"))
        ->type_name("NAME");
    add_integer(
        command, "--prompt", prompt, "Tokens of the prompt (default 32768)");
    add_integer(
        command,
        "--repeat",
        repeat,
        "Warm and cold processes of each (default 3)");
    add_bench_folder(command, folder);
    command.add_flag("--json", json, "One object a line");
  }
  void validate() {
    require_within("--prompt", prompt, 2, int64_t{1} << 24);
    require_within("--repeat", repeat, 1, 1000);
    for (const std::string& name : kv) {
      model.state.kv = name;
      model.validate();
    }
  }
};

/// What one process found.
Json facts(const measure::FirstToken& first, double load) {
  return Json{
      {"load_s", load},
      {"open_s", first.open},
      {"begin_s", first.begin},
      {"compute_s", first.compute},
      {"first_token_s", first.seconds()},
      {"reused_tokens", first.reused.get()},
      {"reused_from_disk", first.from_disk.get()},
      {"state_bytes", first.state.get()},
      {"begin_gb_s", first.begin_rate() / 1e9},
      {"token", first.token}};
}

class RestoreBench {
 public:
  explicit RestoreBench(const RestoreArguments& arguments)
      : arguments_(arguments) {}

  int run() {
    try {
      for (const std::string& kv : arguments_.kv) {
        measure(kv);
      }
    } catch (const Interrupted&) {
    }
    return interrupt_.exit_code();
  }

 private:
  void measure(const std::string& kv) {
    const BenchFolder folder(arguments_.folder);
    const std::string tier = folder.path() + "/tier";
    Json result{{"kv", kv}, {"prompt", arguments_.prompt}};
    const Json computed =
        in_process(interrupt_, [&] { return one(kv, tier, /*keeps=*/true); });
    Json warm, cold;
    for (int64_t i = 0; i < arguments_.repeat; ++i) {
      const auto paths = measure::segment_paths(tier);
      const auto restore = [&] {
        return in_process(
            interrupt_, [&] { return one(kv, tier, /*keeps=*/false); });
      };
      for (const std::string& path : paths) {
        forget_cached(path).check();
      }
      keep_best(cold, restore());
      keep_best(warm, restore()); // the cold one left it in memory
    }
    const measure::DiskRate disk =
        measure::disk_read_rate(measure::segment_paths(tier));
    for (const Json* restored : {&warm, &cold}) {
      require_restored(computed, *restored);
    }
    result["kernels"] = computed["kernels"];
    result["threads"] = computed["threads"];
    result["computed"] = computed;
    result["warm"] = warm;
    result["cold"] = cold;
    result["warm_share"] = ratio(warm, computed, "first_token_s");
    result["cold_share"] = ratio(cold, computed, "first_token_s");
    result["disk_gb_s"] = disk.bytes_s / 1e9;
    result["disk_in_flight"] = disk.in_flight;
    result["cold_disk_share"] =
        cold["begin_gb_s"].get<double>() * 1e9 / disk.bytes_s;
    print(result);
  }

  /// In a process of its own: loads, and goes to the prompt's first token.
  Json one(const std::string& kv, const std::string& tier, bool keeps) const {
    const Runtime runtime = arguments_.model.runtime.make();
    const double loading = measure::seconds();
    const LoadedModel loaded = load_model(arguments_.model.path, runtime);
    const double load = measure::seconds() - loading;
    measure::RestoreSetup setup;
    setup.state.kv = kv;
    setup.state.weights = "measured";
    setup.folder = tier;
    setup.chunk = arguments_.model.chunk;
    measure::RestoreTrial trial(loaded, setup);
    ProgressLine line("computing the prompt");
    const auto first = trial.first_token(
        measure::random_prompt(
            arguments_.prompt, loaded.model->config().vocab, 1),
        [&](int64_t done, int64_t total) {
          stop_if(interrupt_);
          line.update(done, total);
        });
    line.clear();
    Json result = facts(first, load);
    if (keeps) {
      const measure::Kept kept = trial.keep();
      if (!kept.durable) {
        throw Error(
            ErrorCode::kIo,
            "expected the state of the prompt on the disk, got a part");
      }
      result["keep_s"] = kept.seconds;
      result["written_bytes"] = kept.written.get();
      result["kernels"] = name(runtime.path);
      result["threads"] = runtime.executor->threads();
    }
    return result;
  }

  static void keep_best(Json& best, Json&& other) {
    if (best.is_null() || other["first_token_s"] < best["first_token_s"]) {
      best = std::move(other);
    }
  }

  static double ratio(const Json& a, const Json& b, const char* field) {
    return a[field].get<double>() / b[field].get<double>();
  }

  void require_restored(const Json& computed, const Json& restored) const {
    if (restored["token"] != computed["token"] ||
        restored["reused_from_disk"] != arguments_.prompt - 1) {
      throw Error(
          ErrorCode::kInternal,
          "expected the first token " + computed["token"].dump() + " after " +
              std::to_string(arguments_.prompt - 1) +
              " tokens from the disk, got " + restored["token"].dump() +
              " after " + restored["reused_from_disk"].dump());
    }
  }

  void print(const Json& result) const {
    if (arguments_.json) {
      write_out(json_line(result));
      return;
    }
    const auto number = [](const Json& of, const char* field) {
      return of[field].get<double>();
    };
    const Json& computed = result["computed"];
    char text[400];
    std::snprintf(
        text,
        sizeof text,
        "%lld tokens, %s, %d threads, state of a row %.1f MB, %.1f MB written "
        "in %.2f s\n"
        "            load s  open ms  begin ms  compute ms  first token s  "
        "share    GB/s\n",
        static_cast<long long>(arguments_.prompt),
        computed["kernels"].get<std::string>().c_str(),
        computed["threads"].get<int>(),
        number(result["warm"], "state_bytes") / 1e6,
        number(computed, "written_bytes") / 1e6,
        number(computed, "keep_s"));
    std::string out = printable(result["kv"].get<std::string>()) + ": " + text;
    for (const char* way : {"computed", "warm", "cold"}) {
      const Json& of = result[way];
      std::snprintf(
          text,
          sizeof text,
          "  %-8s %7.2f %8.1f %9.1f %11.1f %14.3f %5.2f%% %7.2f\n",
          way,
          number(of, "load_s"),
          number(of, "open_s") * 1e3,
          number(of, "begin_s") * 1e3,
          number(of, "compute_s") * 1e3,
          number(of, "first_token_s"),
          100 * ratio(of, computed, "first_token_s"),
          number(of, "begin_gb_s"));
      out += text;
    }
    std::snprintf(
        text,
        sizeof text,
        "  device                                                            "
        "%13.2f  (O_DIRECT, %d at a time; cold is %.0f %% of it)\n",
        number(result, "disk_gb_s"),
        result["disk_in_flight"].get<int>(),
        100 * number(result, "cold_disk_share"));
    write_out(out + text);
  }

  const RestoreArguments& arguments_;
  const InterruptFlag interrupt_;
};

} // namespace

void add_bench_restore(CLI::App& bench, Action& action) {
  CLI::App* command = bench.add_subcommand(
      "restore", "Time to the first token after a restart");
  set_command<RestoreArguments>(
      *command, action, kExamples, [](RestoreArguments& arguments) {
        arguments.validate();
        return RestoreBench(arguments).run();
      });
}

} // namespace holdfast::app
