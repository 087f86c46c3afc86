// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state pin` and `unpin`: what eviction may not take.

#include <memory>

#include "commands.h"
#include "console.h"
#include "json.h"
#include "state_target.h"

namespace holdfast::app {

namespace {

struct PinArguments : RecordTarget {
  bool pinned = true;
};

int run_pin(const PinArguments& arguments) {
  const auto tier = arguments.open();
  std::vector<RecordName> found; // all of them, before anything changes
  for (const std::string& typed : arguments.names) {
    found.push_back(find_record(*tier, typed));
  }
  for (const RecordName& name : found) {
    tier->pin_record(name, arguments.pinned).check();
    if (arguments.json) {
      write_out(json_line(
          {{"space", name.space},
           {"name", name.name},
           {"pinned", arguments.pinned}}));
    } else {
      write_out(
          shown(name) + (arguments.pinned ? " is pinned\n" : " may go\n"));
    }
  }
  return 0;
}

constexpr const char* kPinExamples = R"(
A pinned record stays, with its state, however full the disk gets; a longer text
does not take its place, and forget refuses it. Of a chat the whole tree stays,
and the state of its current turn.

Examples:
  holdfast state pin 3f2a
  holdfast state pin chat/notes)";

constexpr const char* kUnpinExamples = R"(
Examples:
  holdfast state unpin 3f2a)";

void add(CLI::App& verb, Action& action, bool pinned, const char* examples) {
  const auto arguments = std::make_shared<PinArguments>();
  arguments->pinned = pinned;
  arguments->add_to(verb, "The records, or how their names begin");
  verb.get_option("name")->required();
  verb.footer(examples);
  set_action(verb, action, arguments, run_pin);
}

} // namespace

void add_state_pin(CLI::App& state, Action& action) {
  add(*state.add_subcommand("pin", "Keep records from eviction"),
      action,
      true,
      kPinExamples);
}

void add_state_unpin(CLI::App& state, Action& action) {
  add(*state.add_subcommand("unpin", "Let records go when room is needed"),
      action,
      false,
      kUnpinExamples);
}

} // namespace holdfast::app
