// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The options that commands share: where the model is, how it runs, what text
// it gets. Values; one thread.

#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "holdfast/engine/load.h"
#include "holdfast/models/compiled.h"

namespace holdfast::app {

/// What a chosen command does; returns the exit code.
using Action = std::function<int()>;

/// What a command does when it is chosen: run(arguments), which returns the
/// exit code.
template <class Arguments, class Run>
void set_action(
    CLI::App& command,
    Action& action,
    const std::shared_ptr<Arguments>& arguments,
    Run run) {
  command.callback([&action, arguments, run] {
    action = [arguments, run] { return run(*arguments); };
  });
}
/// The same of a command with arguments of its own, and examples below its
/// help.
template <class Arguments, class Run>
void set_command(
    CLI::App& command,
    Action& action,
    const char* examples,
    Run run) {
  const auto arguments = std::make_shared<Arguments>();
  arguments->add_to(command);
  command.footer(examples);
  set_action(command, action, arguments, run);
}

/// Throws UserError "NAME: expected LEAST to MOST, got ...".
void require_within(const char* name, int64_t got, int64_t least, int64_t most);

/// Adds an option that may be repeated, each time with one value, whose bytes
/// are kept as they are.
CLI::Option* add_repeated(
    CLI::App& command,
    const std::string& name,
    std::vector<std::string>& values,
    const std::string& description);

/// The option refuses an empty value.
CLI::Option* not_empty(CLI::Option* option);

/// A whole number, strictly read: no sign where the type has none, nothing
/// behind it, nothing out of range.
template <class T>
T read_integer(const std::string& name, const std::string& text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) {
    const size_t dashes = name.rfind("--");
    throw CLI::ConversionError(
        name.substr(dashes == name.npos ? 0 : dashes) +
        ": expected a whole number from " +
        std::to_string(std::numeric_limits<T>::min()) + " to " +
        std::to_string(std::numeric_limits<T>::max()) + ", got \"" + text +
        '"');
  }
  return value;
}
template <class T>
CLI::Option* add_integer(
    CLI::App& command,
    const std::string& name,
    T& value,
    const std::string& description) {
  return command
      .add_option(
          name,
          [&value, name](const CLI::results_t& given) {
            if constexpr (requires { value.emplace(); }) {
              value = read_integer<typename T::value_type>(name, given[0]);
            } else {
              value = read_integer<T>(name, given[0]);
            }
            return true;
          },
          description)
      ->type_name("N");
}

struct RuntimeOptions {
  std::optional<int64_t> threads; // none: as many as this process may use
  std::string kernels; // empty: the best

  void add_to(CLI::App& command);
  /// Throws UserError.
  Runtime make() const;
};

struct ModelOptions {
  std::string path;
  std::string adapter; // a folder; empty: none
  RuntimeOptions runtime;
  StateChoice state;
  std::optional<int64_t> max_state_bytes; // none: no limit
  int64_t chunk = 512;
  bool compiled = false; // of the commands that decode

  void add_to(CLI::App& command);
  void add_compiled_to(CLI::App& command);
  /// Throws UserError unless the file can be opened and the values make sense.
  void validate() const;
  /// With a progress line. Sets `milliseconds` since the program began.
  LoadedModel load(double& milliseconds) const;
  std::unique_ptr<State> make_state(const LoadedModel& loaded) const;
  /// The model whose short steps are replayed; null unless asked for.
  std::unique_ptr<const CompiledModel> compile(const LoadedModel& loaded) const;
};

void add_model_path(CLI::App& command, std::string& path);

/// -p, -f or standard input.
struct PromptOptions {
  std::vector<std::string> texts;
  std::vector<std::string> files;

  void add_to(CLI::App& command);
  /// The texts, then the files' contents, else standard input where that is no
  /// terminal. Bytes as they are. Throws UserError.
  std::vector<std::string> read() const;
};

/// A file's bytes; a pipe is read to its end. Throws UserError where it cannot
/// be read.
std::string read_text_file(const std::string& path);
/// Throws UserError where the file cannot be opened for reading, or is a pipe,
/// a device or a folder. Does not wait.
void require_regular(const std::string& path);
/// The same for a model: a regular file, or a folder.
void require_model(const std::string& path);

} // namespace holdfast::app
