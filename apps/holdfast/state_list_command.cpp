// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state ls` and `show`: what is kept, and what one record says.

#include <memory>
#include <string>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "holdfast/prefix/scope.h"
#include "json.h"
#include "state_print.h"
#include "state_target.h"

namespace holdfast::app {

namespace {

struct ListArguments : StateTarget {
  std::string space; // empty: all
};

struct ShowArguments : RecordTarget {
  std::string model; // empty: ids
};

Json record_json(const ListedRecord& record) {
  Json json{
      {"space", record.stored.name.space},
      {"name", record.stored.name.name},
      {"short", record.short_name},
      {"version", record.stored.version},
      {"tokens", record.stored.length.get()},
      {"bytes", record.bytes.get()},
      {"own_bytes", record.own_bytes.get()},
      {"stored", json_time(record.stored.stored_ns)},
      {"pinned", record.stored.pinned},
      {"model", record.facts.model},
      {"line", record.facts.line}};
  if (record.stored.expires_ns != 0) {
    json["expires"] = json_time(record.stored.expires_ns);
  }
  return json;
}

int run_list(const ListArguments& arguments) {
  const auto tier = arguments.open();
  Columns columns;
  columns.add(
      {"NAME", "SPACE", "TOKENS", "BYTES", "STORED", "PIN", "MODEL", "TEXT"});
  std::string lines;
  for (const ListedRecord& record : list_records(*tier)) {
    const RecordName& name = record.stored.name;
    if (!arguments.space.empty() && name.space != arguments.space) {
      continue;
    }
    lines += json_line(record_json(record));
    columns.add(
        {printable(record.short_name),
         printable(name.space),
         std::to_string(record.stored.length.get()),
         shown_bytes(record.bytes),
         shown_time(record.stored.stored_ns),
         record.stored.pinned ? "yes" : "",
         printable(record.facts.model),
         printable(record.facts.line)});
  }
  write_out(arguments.json ? lines : columns.text({2, 3}));
  return kOk;
}

Json parts_json(const RecordBody& body) {
  Json parts = Json::array();
  for (const auto& [name, part] : body.parts()) {
    parts.push_back(
        {{"name", name},
         {"version", part.version},
         {"bytes", part.bytes.size()}});
  }
  return parts;
}

Json fields_json(const std::string& scope_text) {
  Json fields = Json::object();
  if (const auto scope = Scope::parse(scope_text); scope.ok()) {
    for (const Signature::Field& field : scope.value().signature().fields()) {
      fields[field.name] = field.value;
    }
  }
  return fields;
}

/// The ids, or the text as a model's file has it.
std::string text_of(const ShowArguments& arguments, const RecordText& record) {
  if (arguments.model.empty()) {
    std::string ids;
    for (const int32_t id : record.tokens) {
      ids += (ids.empty() ? "" : " ") + std::to_string(id);
    }
    return ids;
  }
  require_model(arguments.model);
  return users([&] {
    return open_model_file(arguments.model).tokenizer.decode(record.tokens);
  });
}

void print_record(const ListedRecord& listed, const RecordText& record) {
  Columns facts;
  facts.add({"name", shown(listed.stored.name)});
  facts.add({"tokens", std::to_string(listed.stored.length.get())});
  facts.add(
      {"bytes",
       shown_bytes(listed.bytes) +
           ", of these its own: " + shown_bytes(listed.own_bytes)});
  facts.add({"version", std::to_string(listed.stored.version)});
  facts.add({"stored", shown_time(listed.stored.stored_ns)});
  facts.add({"pinned", listed.stored.pinned ? "yes" : "no"});
  if (listed.stored.expires_ns != 0) {
    facts.add({"expires", shown_time(listed.stored.expires_ns)});
  }
  facts.add({"model", printable(listed.facts.model)});
  if (const auto body = RecordBody::parse(record.body); body.ok()) {
    for (const auto& [name, part] : body.value().parts()) {
      facts.add(
          {"part",
           printable(name) + ", version " + std::to_string(part.version) +
               ", " +
               shown_bytes(Bytes(static_cast<int64_t>(part.bytes.size())))});
    }
  }
  write_out(facts.text() + "\n");
}

int run_show(const ShowArguments& arguments) {
  const auto tier = arguments.open();
  for (const std::string& typed : arguments.names) {
    const RecordName name = find_record(*tier, typed);
    const RecordText record = tier->record_text(name).value();
    const auto all = list_records(*tier);
    const auto listed = std::ranges::find(
        all, name, [](const ListedRecord& each) { return each.stored.name; });
    if (listed == all.end()) {
      throw UserError(shown(name) + ": expected a record, got none any more");
    }
    const std::string text = text_of(arguments, record);
    if (!arguments.json) {
      print_record(*listed, record);
      write_out(text.ends_with('\n') ? text : text + "\n");
      continue;
    }
    Json json = record_json(*listed);
    json["scope"] = fields_json(record.scope);
    if (const auto body = RecordBody::parse(record.body); body.ok()) {
      json["parts"] = parts_json(body.value());
    }
    json["ids"] = record.tokens;
    if (!arguments.model.empty()) {
      json["text"] = text;
    }
    write_out(json_line(json));
  }
  return kOk;
}

constexpr const char* kListExamples = R"(
The last stored comes first. BYTES are those of its state and body, shared ones
too. A record is named by as much of NAME as no other begins with.

Examples:
  holdfast state ls
  holdfast state ls --space chat --json)";

constexpr const char* kShowExamples = R"(
Facts, an empty line, then the text: as ids, or with a model's file as it reads.

Examples:
  holdfast state show 3f2a
  holdfast state show chat/notes -m model.gguf)";

} // namespace

void add_state_ls(CLI::App& state, Action& action) {
  CLI::App* verb = state.add_subcommand("ls", "List what is kept");
  const auto arguments = std::make_shared<ListArguments>();
  arguments->add_to(*verb);
  not_empty(verb->add_option(
                "--space", arguments->space, "Those of this space alone"))
      ->type_name("NAME");
  verb->footer(kListExamples);
  set_action(*verb, action, arguments, run_list);
}

void add_state_show(CLI::App& state, Action& action) {
  CLI::App* verb = state.add_subcommand("show", "Show a record and its text");
  const auto arguments = std::make_shared<ShowArguments>();
  arguments->add_to(*verb, "The record, or how its name begins");
  verb->get_option("name")->required();
  not_empty(verb->add_option(
                "-m,--model",
                arguments->model,
                "Model whose tokenizer reads the ids"))
      ->type_name("FILE");
  verb->footer(kShowExamples);
  set_action(*verb, action, arguments, run_show);
}

} // namespace holdfast::app
