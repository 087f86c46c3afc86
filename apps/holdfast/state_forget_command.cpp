// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state forget`: removes texts, and looks through the whole folder
// for what could be left of them.

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "forgotten_bytes.h"
#include "json.h"
#include "record_texts.h"
#include "state_claims.h"
#include "state_print.h"
#include "state_target.h"

namespace holdfast::app {

namespace {

struct ForgetArguments : RecordTarget {
  bool all = false;
};

/// Those that are meant, with what goes with chats. A record is claimed before
/// it is looked at: what its process stored until then is seen, and it stores
/// no more. Throws UserError where one is at work on it.
std::set<RecordName> claimed_names(
    const std::vector<std::string>& typed,
    DiskTier& tier,
    RecordClaims& claims) {
  std::set<RecordName> names;
  for (const std::string& each : typed) {
    const RecordName name = find_record(tier, each);
    claims.claim(name);
    names.insert(name);
  }
  for (const RecordName& name : std::set<RecordName>(names)) {
    for (const RecordName& related : related_records(tier, name)) {
      claims.claim(related);
      names.insert(related);
    }
  }
  return names;
}

/// The same, or all; throws before anything changes.
std::vector<RecordName>
chosen(const ForgetArguments& arguments, DiskTier& tier, RecordClaims& claims) {
  std::set<RecordName> meant;
  if (arguments.all) {
    claims.claim_all();
  } else {
    meant = claimed_names(arguments.names, tier, claims);
  }
  std::vector<RecordName> names; // in order
  const auto records = tier.records();
  for (const StoredRecord& record : records.value()) {
    if (!arguments.all && !meant.contains(record.name)) {
      continue;
    }
    if (record.pinned) {
      throw UserError(
          shown(record.name) +
          ": expected a record that is not pinned (see holdfast state unpin)");
    }
    names.push_back(record.name);
    meant.erase(record.name);
  }
  if (!meant.empty()) {
    throw UserError(
        shown(*meant.begin()) +
        ": expected a record that is kept, got one that went meanwhile");
  }
  std::ranges::sort(names);
  return names;
}

/// All texts of records: those that go, and those that stay.
struct Texts {
  std::vector<RecordTexts> going;
  std::vector<std::vector<int32_t>> kept;
  /// Of those that go: whose bodies named texts that nobody can name any more.
  std::vector<RecordName> damaged;
};

/// Throws where one cannot be read, save a damaged body.
Texts read_texts(const std::vector<RecordName>& names, DiskTier& tier) {
  Texts texts;
  const auto records = tier.records();
  for (const StoredRecord& record : records.value()) {
    const bool goes = std::ranges::binary_search(names, record.name);
    auto read = texts_of(tier, record.name);
    if (!goes && read.status().code() == ErrorCode::kNotFound) {
      continue; // another process removed it
    }
    RecordTexts of = std::move(read).value();
    if (goes) {
      if (!of.whole) {
        texts.damaged.push_back(record.name);
      }
      texts.going.push_back(std::move(of));
    } else {
      texts.kept.insert(
          texts.kept.end(),
          std::make_move_iterator(of.longest.begin()),
          std::make_move_iterator(of.longest.end()));
    }
  }
  return texts;
}

Forgotten
forget(const std::vector<RecordName>& names, Texts texts, DiskTier& tier) {
  ForgetRequest request{
      .records = names, .texts = {}, .kept = std::move(texts.kept)};
  for (RecordTexts& going : texts.going) {
    request.texts.insert(
        request.texts.end(),
        std::make_move_iterator(going.tokens.begin()),
        std::make_move_iterator(going.tokens.end()));
  }
  return tier.forget(request).value();
}

struct Outcome {
  std::vector<RecordName> names;
  Removed removed;
  int64_t shortened = 0;
  std::vector<Forgotten::Rest> rests;
  std::vector<RecordName> damaged; // what they named may stay
  ScanReport scan;
  size_t runs = 0; // that were looked for
  bool clean() const {
    return removed.unerased == Bytes() && scan.found == 0 &&
        scan.unread.empty() && rests.empty() && damaged.empty();
  }
};

void print(const Outcome& forgotten) {
  write_out(
      std::to_string(forgotten.names.size()) + " records and " +
      std::to_string(forgotten.removed.nodes.size()) + " blocks are gone, " +
      shown_bytes(forgotten.removed.freed) + " given back\n" +
      (forgotten.shortened == 0 ? ""
                                : std::to_string(forgotten.shortened) +
               " blocks in which other records end were cut: those compute the "
               "state of their last tokens again\n") +
      std::to_string(forgotten.scan.files) + " files of the folder read, " +
      shown_bytes(forgotten.scan.bytes) + ": " +
      (forgotten.scan.found == 0
           ? "none of "
           : std::to_string(forgotten.scan.found) + " places with one of ") +
      std::to_string(forgotten.runs) + " runs of their tokens and bytes\n");
}

void complain_of(const Outcome& forgotten) {
  if (forgotten.removed.unerased > Bytes()) {
    complain(
        "expected all bytes to be gone, got " +
        shown_bytes(forgotten.removed.unerased) +
        " that another process has mapped: run holdfast state prune when it "
        "has ended");
  }
  for (const Forgotten::Rest& rest : forgotten.rests) {
    complain(
        std::to_string(rest.tokens) + " tokens stay, because " +
        shown(rest.record) + " ends in their block: forget it as well");
  }
  for (const RecordName& name : forgotten.damaged) {
    complain(
        shown(name) +
        ": expected a record that can be read, got a damaged one: other texts "
        "that it named may stay (holdfast state forget --all removes them)");
  }
  for (const std::string& path : forgotten.scan.files_found) {
    complain(path + ": expected nothing of what was forgotten, got some");
  }
  for (const std::string& problem : forgotten.scan.unread) {
    complain(problem);
  }
}

Json names_json(const std::vector<RecordName>& names) {
  Json json = Json::array();
  for (const RecordName& name : names) {
    json.push_back(name.space + "/" + name.name);
  }
  return json;
}

Json forgotten_json(const Outcome& forgotten) {
  Json rests = Json::array();
  for (const Forgotten::Rest& rest : forgotten.rests) {
    rests.push_back(
        {{"space", rest.record.space},
         {"name", rest.record.name},
         {"tokens", rest.tokens}});
  }
  return {
      {"records", names_json(forgotten.names)},
      {"nodes", forgotten.removed.nodes.size()},
      {"freed", forgotten.removed.freed.get()},
      {"unerased", forgotten.removed.unerased.get()},
      {"shortened", forgotten.shortened},
      {"rests", std::move(rests)},
      {"damaged", names_json(forgotten.damaged)},
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
  Outcome forgotten;
  RecordClaims claims(*tier);
  forgotten.names = chosen(arguments, *tier, claims);
  Texts texts = read_texts(forgotten.names, *tier);
  const ForgottenBytes before(*tier, texts.going);
  if (arguments.all) {
    forgotten.removed = tier->forget_all().value();
  } else {
    forgotten.damaged = texts.damaged;
    Forgotten done = forget(forgotten.names, std::move(texts), *tier);
    forgotten.removed = std::move(done.removed);
    forgotten.shortened = done.shortened;
    forgotten.rests = std::move(done.rests);
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
Removes the record and all state that no other text shares, of a chat all its
branches, and gives its bytes on the disk back; then reads every file of the
folder and looks for runs of its tokens and of its record. Where another record
ends in the middle of a block, the block is cut there. Exit code 1 where any of
it is left, or may be: a damaged chat cannot name its other branches. What flash keeps of overwritten sectors no program can reach, and
copies that others made (backups, snapshots of the file system) are theirs.

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
  set_action(*verb, action, arguments, run_forget);
}

} // namespace holdfast::app
