// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <ctime>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "file_guard.h"
#include "holdfast/formats/chat_template.h"
#include "json.h"
#include "template_values.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
Each line of the input is a JSON object: the variables of the template, such as
messages, tools, add_generation_prompt, bos_token.

Examples:
  echo '{"messages": [{"role": "user", "content": "Hi"}]}' |
    holdfast template -m model.gguf
  holdfast template -t template.jinja -f conversations.jsonl --json)";

struct TemplateArguments {
  std::string model;
  std::string file;
  PromptOptions input;
  std::optional<int64_t> time;
  bool json = false;

  std::string source() const {
    if (model.empty() == file.empty()) {
      throw UserError("expected either -m FILE or -t FILE");
    }
    if (!file.empty()) {
      return read_text_file(file);
    }
    require_model(model);
    const FileGuard guard(model);
    const std::string text = open_model_file(model).chat_template;
    if (text.empty()) {
      throw UserError(
          model + ": expected a chat template (" + kTemplateKey +
          "), got none");
    }
    return text;
  }

  std::tm now() const {
    const std::time_t seconds = time ? *time : std::time(nullptr);
    std::tm local = {};
    if (localtime_r(&seconds, &local) == nullptr) {
      throw UserError("--time: expected seconds since 1970, got too many");
    }
    return local;
  }
};

int run_template(const TemplateArguments& arguments) {
  const ChatTemplate chat =
      users([&] { return ChatTemplate::parse(arguments.source()).value(); });
  const std::tm now = arguments.now();
  int code = kOk;
  for (const std::string& text : arguments.input.read()) {
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto variables = users([&] {
        return template_variables(line, "line " + std::to_string(++number));
      });
      const Result<std::string> result = chat.render(variables, now);
      if (arguments.json) {
        write_out(json_line(
            result.ok() ? Json{{"text", result.value()}}
                        : Json{
                              {"error", name(result.status().code())},
                              {"message", result.status().text()}}));
        code = result.ok() ? code : kFailed;
      } else {
        write_out(users([&] { return result.value(); }));
      }
    }
  }
  return code;
}

} // namespace

void add_template(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "template", "Render conversations with a chat template");
  const auto arguments = std::make_shared<TemplateArguments>();
  not_empty(command->add_option(
                "-m,--model", arguments->model, "A GGUF file or a folder"))
      ->type_name("FILE");
  not_empty(command->add_option(
                "-t,--template", arguments->file, "A file that is a template"))
      ->type_name("FILE");
  arguments->input.add_to(*command);
  add_integer(
      *command,
      "--time",
      arguments->time,
      "What strftime_now tells, in seconds since 1970 (default: now)");
  command->add_flag(
      "--json",
      arguments->json,
      "One object a line: the text, or the error and its message");
  command->footer(kExamples);
  set_action(*command, action, arguments, run_template);
}

} // namespace holdfast::app
