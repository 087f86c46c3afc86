// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <csignal>
#include <exception>
#include <string>
#include <vector>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "failure.h"
#include "holdfast/env/mapping_guard.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
Examples:
  holdfast generate -m model.gguf -p "The capital of France is" -n 32
  holdfast chat -m model.gguf
  holdfast tokenize -m model.gguf -p "Hello"
  holdfast inspect model.gguf
  holdfast pack model-folder model-4bit
  holdfast eval -m model.gguf -f text.txt --context 512
  holdfast state ls
  holdfast bench model -m model.gguf --prompt 512 --gen 64

Every command has its own --help. Exit code: 0 done, 1 failure, 2 user's
mistake, 130 interrupted, 143 terminated.)";

/// The innermost command that was named.
const CLI::App* chosen(const CLI::App* app) {
  for (;;) {
    const auto inner = app->get_subcommands();
    if (inner.empty()) {
      return app;
    }
    app = inner.front();
  }
}

std::string command_name(const CLI::App* app) {
  return app->get_parent() == nullptr
      ? app->get_name()
      : command_name(app->get_parent()) + " " + app->get_name();
}

/// Help and version are asked for with exceptions, as are mistakes reported.
int answer(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = chosen(&app);
  if (dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr) {
    const CLI::App* above = command->get_parent();
    write_out(command->help(above == nullptr ? "" : command_name(above)));
    return kOk;
  }
  if (error.get_exit_code() == 0) {
    write_out(std::string(error.what()) + "\n");
    return kOk;
  }
  std::string text = error.what();
  // The parser would only say that a command is missing.
  const std::vector<std::string> unknown = command->remaining();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
      !command->get_subcommands({}).empty() && !unknown.empty()) {
    text = "expected a command, got " + unknown.front();
  }
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  complain(text + " (see " + command_name(command) + " --help)");
  return kMisused;
}

/// The words of the command line, the last one first, as the parser takes them.
/// "--name=" becomes "--name" and an empty value: the parser would look for
/// none.
std::vector<std::string> words(int argc, char** argv) {
  std::vector<std::string> result;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.size() > 3 && word.starts_with("--") &&
        word.find('=') == word.size() - 1) {
      result.push_back(word.substr(0, word.size() - 1));
      result.emplace_back();
    } else {
      result.push_back(word);
    }
  }
  std::reverse(result.begin(), result.end());
  return result;
}

int run_command(int argc, char** argv) {
  CLI::App app(
      "holdfast keeps an LLM's state, and generates text on it.", "holdfast");
  app.footer(kExamples);
  app.set_version_flag("--version", "holdfast " HOLDFAST_VERSION);
  app.require_subcommand(1);
  Action action;
  add_generate(app, action);
  add_chat(app, action);
  add_tokenize(app, action);
  add_template(app, action);
  add_inspect(app, action);
  add_pack(app, action);
  add_eval(app, action);
  add_state(app, action);
  add_bench(app, action);
  try {
    app.parse(words(argc, argv));
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
  }
  // Stored state that somebody cuts short under a mapping fails a step, not the
  // process.
  const MappingGuard guard;
  return action();
}

} // namespace

int run(int argc, char** argv) noexcept {
  // A closed pipe is then an error of write().
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run_command(argc, argv);
  } catch (...) {
    return told(std::current_exception());
  }
}

} // namespace holdfast::app
