// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <memory>

#include "chat_loop.h"
#include "chat_options.h"
#include "chat_session.h"
#include "commands.h"
#include "console.h"
#include "errors.h"
#include "running_model.h"
#include "state_end.h"

namespace holdfast::app {

namespace {

void greet(const ChatArguments& arguments, const ChatSession& session) {
  if (!session.has_template()) {
    complain(
        "the model has no chat template: a plain transcript (User: ... "
        "Assistant: ...) is used");
  }
  if (session.kept()) {
    std::fprintf(
        stderr,
        "holdfast: chat %s, %zu turns (/help lists the commands)\n",
        printable(session.name()).c_str(),
        session.history().turns().size());
  } else {
    std::fputs(
        "holdfast: this chat is in memory alone (/help lists the commands)\n",
        stderr);
  }
  if (arguments.goes_on && !arguments.json) {
    std::fputs(history_text(session.history()).c_str(), stderr);
  }
}

int run_chat(ChatArguments& arguments) {
  arguments.complete();
  double load_ms = 0;
  const auto running = start_model(
      arguments.model,
      arguments.folder,
      WithoutFolder::kWhatIsInMemory,
      load_ms);
  arguments.take_defaults(running->loaded.source.sampling);
  if (arguments.verbose) {
    print_running(*running);
  }
  ChatSession session(arguments, *running);
  greet(arguments, session);
  return with_state_kept(session.kept() ? &*running->cache : nullptr, [&] {
    return blaming(arguments.model.path, [&] {
      return ChatLoop(arguments, session).run();
    });
  });
}

constexpr const char* kExamples = R"(
A line is a message; one that ends in a backslash goes on in the next line, and
""" begins a block that ends with """. /help lists the commands. Ctrl-C ends an
answer; at the prompt, twice, the chat; Ctrl-D ends it too.

Examples:
  holdfast chat -m model.gguf --name trip
  holdfast chat -m model.gguf --continue trip
  printf 'Hello\nAnd now?\n' | holdfast chat -m model.gguf --json)";

} // namespace

void add_chat(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("chat", "Talk with a model, and go on later");
  set_command<ChatArguments>(*command, action, kExamples, run_chat);
}

} // namespace holdfast::app
