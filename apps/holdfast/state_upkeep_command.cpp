// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state stats`, `verify`, `prune` and `flush`: the folder as a whole.

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "holdfast/env/posix_file_system.h"
#include "json.h"
#include "state_opening.h"
#include "state_place.h"
#include "state_print.h"
#include "state_target.h"

namespace holdfast::app {

namespace {

struct PruneArguments : StateTarget {
  std::optional<int64_t> to;
};

struct FlushArguments : StateTarget {
  double wait = 10;
};

/// Bytes written for each of so many tokens; nothing where there were none.
std::optional<double> written_per(const TierStats& stats, int64_t tokens) {
  return tokens == 0 ? std::nullopt
                     : std::optional(
                           static_cast<double>(stats.written_total.get()) /
                           static_cast<double>(tokens));
}

Json or_null(std::optional<double> value) {
  return value ? Json(*value) : Json();
}

Json stats_json(
    const TierStats& stats,
    Bytes budget,
    const TierReport& report) {
  return {
      {"used", stats.used.get()},
      {"budget", budget.get()},
      {"live", stats.live.get()},
      {"dead", stats.dead.get()},
      {"foreign", stats.foreign.get()},
      {"manifest", stats.manifest.get()},
      {"images", stats.images.count},
      {"image_bytes", stats.images.bytes.get()},
      {"bodies", stats.bodies.count},
      {"body_bytes", stats.bodies.bytes.get()},
      {"objects", stats.objects.count},
      {"object_bytes", stats.objects.bytes.get()},
      {"records", stats.records},
      {"nodes", stats.nodes},
      {"tokens", stats.tokens},
      {"scopes", stats.scopes},
      {"segments", stats.segments},
      {"leases", stats.leases},
      {"written_total", stats.written_total.get()},
      {"written_today", stats.written_today.get()},
      {"tokens_total", stats.tokens_total},
      {"written_per_token", or_null(written_per(stats, stats.tokens_total))},
      {"tokens_served", stats.tokens_served},
      {"written_per_token_served",
       or_null(written_per(stats, stats.tokens_served))},
      {"findings", findings_json(report)}};
}

std::string per_token(const TierStats& stats, int64_t tokens) {
  const std::optional<double> bytes = written_per(stats, tokens);
  return bytes ? shown_bytes(Bytes(static_cast<int64_t>(*bytes))) + " for " +
          std::to_string(tokens)
               : "none yet";
}

std::string stats_text(const TierStats& stats, Bytes budget) {
  Columns columns;
  const auto kind = [](const TierKindStats& kind) {
    return shown_bytes(kind.bytes) + " in " + std::to_string(kind.count);
  };
  columns.add(
      {"on disk",
       shown_bytes(stats.used) + " of " + shown_bytes(budget) +
           ", unless a run says otherwise"});
  columns.add({"images", kind(stats.images)});
  columns.add({"bodies", kind(stats.bodies)});
  columns.add({"objects", kind(stats.objects)});
  columns.add({"manifest", shown_bytes(stats.manifest)});
  columns.add({"not given back yet", shown_bytes(stats.dead)});
  columns.add({"files of others", shown_bytes(stats.foreign)});
  columns.add(
      {"texts",
       std::to_string(stats.records) + " records, " +
           std::to_string(stats.tokens) + " tokens in " +
           std::to_string(stats.nodes) + " blocks, " +
           std::to_string(stats.scopes) + " models or settings"});
  columns.add(
      {"files",
       std::to_string(stats.segments) + " segments, " +
           std::to_string(stats.leases) + " mapped now"});
  columns.add(
      {"written",
       shown_bytes(stats.written_total) + " in all, " +
           shown_bytes(stats.written_today) + " today (UTC)"});
  columns.add({"written a token stored", per_token(stats, stats.tokens_total)});
  columns.add(
      {"written a token served", per_token(stats, stats.tokens_served)});
  return columns.text();
}

int run_stats(const StateTarget& arguments) {
  const auto tier = arguments.open();
  const TierStats stats = tier->stats().value();
  const Bytes budget = default_disk_bytes(arguments.path());
  write_out(
      arguments.json ? json_line(stats_json(stats, budget, tier->report()))
                     : stats_text(stats, budget));
  return kOk;
}

int run_verify(const StateTarget& arguments) {
  const auto tier = arguments.open();
  ProgressLine line("reading");
  const VerifyReport report = tier->verify([&](Bytes done, Bytes total) {
                                    line.update(done.get(), total.get());
                                  })
                                  .value();
  line.clear();
  if (arguments.json) {
    Json json{
        {"segments", report.segments},
        {"extents", report.extents},
        {"bytes", report.bytes.get()},
        {"faults", report.faults},
        {"dropped", report.dropped.size()}};
    write_out(json_line(json));
  } else {
    write_out(
        std::to_string(report.extents) + " images, bodies and objects in " +
        std::to_string(report.segments) + " segments, " +
        shown_bytes(report.bytes) + ": " +
        (report.faults.empty() ? "all as it was written"
                               : std::to_string(report.faults.size()) +
                 " faults; what is damaged is dropped") +
        "\n");
    for (const std::string& fault : report.faults) {
      complain(fault);
    }
  }
  return report.faults.empty() ? kOk : kFailed;
}

void add_to(Removed& sum, const Removed& more) {
  sum.nodes.insert(sum.nodes.end(), more.nodes.begin(), more.nodes.end());
  sum.records.insert(
      sum.records.end(), more.records.begin(), more.records.end());
  sum.objects += more.objects;
  sum.freed += more.freed;
  sum.held = more.held; // what is dead at the end
}

Json removed_json(const Removed& removed, const TierStats& after) {
  Json records = Json::array();
  for (const RecordName& name : removed.records) {
    records.push_back(name.space + "/" + name.name);
  }
  return {
      {"freed", removed.freed.get()},
      {"held", removed.held.get()},
      {"nodes", removed.nodes.size()},
      {"records", std::move(records)},
      {"objects", removed.objects},
      {"used", after.used.get()}};
}

int run_prune(const PruneArguments& arguments) {
  if (arguments.to.value_or(0) < 0) {
    throw UserError(
        "--to: expected 0 or more, got " + std::to_string(*arguments.to));
  }
  const auto tier = arguments.open();
  Removed removed = tier->prune().value();
  TierStats stats = tier->stats().value();
  if (arguments.to && stats.used.get() > *arguments.to) {
    add_to(removed, tier->evict(stats.used - Bytes(*arguments.to)).value());
    stats = tier->stats().value();
  }
  const bool reached = !arguments.to || stats.used <= Bytes(*arguments.to);
  if (arguments.json) {
    write_out(json_line(removed_json(removed, stats)));
  } else {
    write_out(
        shown_bytes(removed.freed) + " given back, " +
        std::to_string(removed.records.size()) + " records gone, " +
        shown_bytes(stats.used) + " on disk\n");
  }
  if (!reached) {
    complain(
        "--to: expected room to go down to " +
        shown_bytes(Bytes(*arguments.to)) + ", got to " +
        shown_bytes(stats.used) +
        ": the rest is pinned, in use or the manifest itself");
  }
  return reached ? kOk : kFailed;
}

/// Stores that other processes have begun and not ended.
int64_t stores_under_way(const std::string& folder) {
  int64_t count = 0;
  const auto names = posix_file_system()->list(tier_folder(folder) + "/open");
  for (const std::string& name : names.value()) {
    count += name.ends_with(".unfinished");
  }
  return count;
}

int run_flush(const FlushArguments& arguments) {
  if (!(arguments.wait >= 0 && arguments.wait <= 86400)) {
    throw UserError("--wait: expected 0 to 86400 seconds");
  }
  const auto tier = arguments.open(); // what the dead left is removed
  const std::string folder = arguments.path();
  const auto until = std::chrono::steady_clock::now() +
      std::chrono::duration<double>(arguments.wait);
  int64_t pending = stores_under_way(folder);
  while (pending > 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    pending = stores_under_way(folder);
  }
  const Removed removed = tier->prune().value();
  const auto files = posix_file_system();
  for (const std::string& synced : {tier_folder(folder), folder}) {
    files->sync_folder(synced).check();
  }
  if (arguments.json) {
    Json json = removed_json(removed, tier->stats().value());
    json["pending"] = pending;
    write_out(json_line(json));
  } else {
    write_out(
        std::to_string(pending) + " stores of other processes pending, " +
        shown_bytes(removed.freed) + " given back\n");
  }
  if (pending > 0) {
    complain(
        "expected the stores of other processes to end within --wait, got " +
        std::to_string(pending) + " under way");
  }
  return pending == 0 ? kOk : kFailed;
}

constexpr const char* kStatsExamples = R"(
Examples:
  holdfast state stats
  holdfast state stats --json)";

constexpr const char* kVerifyExamples = R"(
Everything is read and compared with its checksums. What is damaged is dropped:
it is computed again when it is needed. Exit code 1 where there were faults.

Examples:
  holdfast state verify
  holdfast state verify --state /srv/holdfast --json)";

constexpr const char* kPruneExamples = R"(
Removes what expired and gives dead bytes back; with --to also what is of least
use, until no more than so many bytes are left. What is pinned stays.

Examples:
  holdfast state prune
  holdfast state prune --to 5000000000)";

constexpr const char* kFlushExamples = R"(
A run writes what it computed while it runs, and waits for the disk at its end.
This waits for stores that other processes have under way, removes what dead
ones left, prunes and syncs the folder; it says what is pending, and ends with
exit code 1 where that is more than nothing.

Examples:
  holdfast state flush
  holdfast state flush --wait 60 --json)";

} // namespace

void add_state_stats(CLI::App& state, Action& action) {
  CLI::App* verb = state.add_subcommand("stats", "Sizes, counts and wear");
  const auto arguments = std::make_shared<StateTarget>();
  arguments->add_to(*verb);
  verb->footer(kStatsExamples);
  set_action(*verb, action, arguments, run_stats);
}

void add_state_verify(CLI::App& state, Action& action) {
  CLI::App* verb = state.add_subcommand("verify", "Check everything kept");
  const auto arguments = std::make_shared<StateTarget>();
  arguments->add_to(*verb);
  verb->footer(kVerifyExamples);
  set_action(*verb, action, arguments, run_verify);
}

void add_state_prune(CLI::App& state, Action& action) {
  CLI::App* verb = state.add_subcommand("prune", "Give room on the disk back");
  const auto arguments = std::make_shared<PruneArguments>();
  arguments->add_to(*verb);
  add_integer(
      *verb, "--to", arguments->to, "Evict until this many bytes are left");
  verb->footer(kPruneExamples);
  set_action(*verb, action, arguments, run_prune);
}

void add_state_flush(CLI::App& state, Action& action) {
  CLI::App* verb =
      state.add_subcommand("flush", "Wait for what is being written");
  const auto arguments = std::make_shared<FlushArguments>();
  arguments->add_to(*verb);
  verb->add_option(
          "--wait", arguments->wait, "At most so many seconds (default 10)")
      ->type_name("X");
  verb->footer(kFlushExamples);
  set_action(*verb, action, arguments, run_flush);
}

} // namespace holdfast::app
