// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state forget`: removes texts, and looks through the whole folder
// for what could be left of them.

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "forgotten_bytes.h"
#include "json.h"
#include "state_print.h"
#include "state_target.h"

namespace holdfast::app {

namespace {

struct ForgetArguments : RecordTarget {
  bool all = false;
};

/// Those that are meant; throws before anything changes.
std::vector<RecordName>
chosen(const ForgetArguments& arguments, DiskTier& tier) {
  std::set<RecordName> names;
  for (const std::string& typed : arguments.names) {
    names.insert(find_record(tier, typed));
  }
  const auto records = tier.records();
  for (const StoredRecord& record : records.value()) {
    if (arguments.all) {
      names.insert(record.name);
    }
    if (record.pinned && names.contains(record.name)) {
      throw UserError(
          shown(record.name) +
          ": expected a record that is not pinned (see holdfast state unpin)");
    }
  }
  return {names.begin(), names.end()};
}

struct Forgotten {
  std::vector<RecordName> names;
  Removed removed;
  ScanReport scan;
  size_t runs = 0; // that were looked for
  bool clean() const {
    return removed.unerased == Bytes() && scan.found == 0 &&
        scan.unread.empty();
  }
};

void print(const Forgotten& forgotten) {
  write_out(
      std::to_string(forgotten.names.size()) + " records and " +
      std::to_string(forgotten.removed.nodes.size()) + " blocks are gone, " +
      shown_bytes(forgotten.removed.freed) + " given back\n" +
      std::to_string(forgotten.scan.files) + " files of the folder read, " +
      shown_bytes(forgotten.scan.bytes) + ": " +
      (forgotten.scan.found == 0
           ? "none of "
           : std::to_string(forgotten.scan.found) + " places with one of ") +
      std::to_string(forgotten.runs) + " runs of their tokens and bytes\n");
}

void complain_of(const Forgotten& forgotten) {
  if (forgotten.removed.unerased > Bytes()) {
    complain(
        "expected all bytes to be gone, got " +
        shown_bytes(forgotten.removed.unerased) +
        " that another process has mapped: run holdfast state prune when it "
        "has ended");
  }
  for (const std::string& path : forgotten.scan.files_found) {
    complain(path + ": expected nothing of what was forgotten, got some");
  }
  for (const std::string& problem : forgotten.scan.unread) {
    complain(problem);
  }
}

Json forgotten_json(const Forgotten& forgotten) {
  Json names = Json::array();
  for (const RecordName& name : forgotten.names) {
    names.push_back(name.space + "/" + name.name);
  }
  return {
      {"records", std::move(names)},
      {"nodes", forgotten.removed.nodes.size()},
      {"freed", forgotten.removed.freed.get()},
      {"unerased", forgotten.removed.unerased.get()},
      {"files", forgotten.scan.files},
      {"bytes", forgotten.scan.bytes.get()},
      {"runs", forgotten.runs},
      {"found", forgotten.scan.found},
      {"found_in", forgotten.scan.files_found},
      {"unread", forgotten.scan.unread},
      {"clean", forgotten.clean()}};
}

int run_forget(const ForgetArguments& arguments) {
  if (arguments.all == !arguments.names.empty()) {
    throw UserError("expected the names of records, or --all");
  }
  const std::string folder = arguments.path();
  const auto tier = arguments.open();
  Forgotten forgotten;
  forgotten.names = chosen(arguments, *tier);
  const ForgottenBytes before(*tier);
  if (arguments.all) {
    forgotten.removed = tier->forget_all().value();
  } else {
    for (const RecordName& name : forgotten.names) {
      const Removed removed = tier->forget(name).value();
      forgotten.removed.nodes.insert(
          forgotten.removed.nodes.end(),
          removed.nodes.begin(),
          removed.nodes.end());
      forgotten.removed.freed += removed.freed;
      forgotten.removed.unerased = removed.unerased; // at the end
    }
  }
  const ByteSearch search = before.gone_since(*tier);
  forgotten.runs = search.size();
  ProgressLine line("looking through the folder");
  forgotten.scan = scan_folder(folder, search, [&](Bytes done, Bytes total) {
    line.update(done.get(), total.get());
  });
  line.clear();
  if (arguments.json) {
    write_out(json_line(forgotten_json(forgotten)));
  } else {
    print(forgotten);
  }
  complain_of(forgotten);
  return forgotten.clean() ? kOk : kFailed;
}

constexpr const char* kExamples = R"(
Removes the record and all state that no other text shares, and gives its bytes
on the disk back; then reads every file of the folder and looks for runs of its
tokens and of its record. A block of 64 tokens that another record ends in stays
whole: forget that record as well. Exit code 1 where any of the rest is left.
What flash keeps of overwritten sectors no program can reach, and copies that
others made (backups, snapshots of the file system) are theirs.

Examples:
  holdfast state forget 3f2a
  holdfast state forget chat/notes --json
  holdfast state forget --all)";

} // namespace

void add_state_forget(CLI::App& state, Action& action) {
  CLI::App* verb = state.add_subcommand(
      "forget", "Remove texts, and prove that they are gone");
  const auto arguments = std::make_shared<ForgetArguments>();
  arguments->add_to(*verb, "The records, or how their names begin");
  verb->add_flag("--all", arguments->all, "Everything that is kept");
  verb->footer(kExamples);
  set_verb(*verb, action, arguments, run_forget);
}

} // namespace holdfast::app
