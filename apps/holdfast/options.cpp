// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "options.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "console.h"
#include "errors.h"
#include "file_guard.h"
#include "process_clock.h"

namespace holdfast::app {

namespace {

// No prompt is longer; what never ends (/dev/zero) is refused.
constexpr size_t kMaxTextBytes = Tokenizer::kMaxTextBytes;

[[noreturn]] void refuse(const std::string& path, int error) {
  throw UserError(
      path + ": expected a readable file, got: " + std::strerror(error));
}

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path, int flags = 0)
      : value_(open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)) {
    if (value_ < 0) {
      refuse(path, errno);
    }
  }
  ~Descriptor() {
    close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const {
    return value_;
  }

 private:
  const int value_;
};

std::string read_all(int descriptor, const std::string& name) {
  std::string text;
  std::string part(1 << 16, '\0');
  for (;;) {
    const ssize_t got = read(descriptor, part.data(), part.size());
    if (got == 0) {
      return text;
    }
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      refuse(name, errno);
    }
    text.append(part.data(), static_cast<size_t>(got));
    if (text.size() > kMaxTextBytes) {
      throw UserError(
          name + ": expected at most " + std::to_string(kMaxTextBytes) +
          " bytes of text, got more");
    }
  }
}

} // namespace

void require_within(
    const char* name,
    int64_t got,
    int64_t least,
    int64_t most) {
  if (got < least || got > most) {
    throw UserError(
        std::string(name) + ": expected " + std::to_string(least) + " to " +
        std::to_string(most) + ", got " + std::to_string(got));
  }
}

CLI::Option* add_repeated(
    CLI::App& command,
    const std::string& name,
    std::vector<std::string>& values,
    const std::string& description) {
  // A callback, since conversion to a vector reads "{}" and "%%" as its own.
  return command
      .add_option(
          name,
          [&values](const CLI::results_t& given) {
            values = given;
            return true;
          },
          description)
      ->type_name("TEXT")
      ->type_size(1)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

CLI::Option* not_empty(CLI::Option* option) {
  return option->check([](const std::string& value) {
    return value.empty() ? std::string("expected a value, got an empty one")
                         : std::string();
  });
}

void RuntimeOptions::add_to(CLI::App& command) {
  add_integer(
      command,
      "--threads",
      threads,
      "Threads to compute with (default: the cores this process may use)");
  not_empty(command.add_option(
                "--kernels",
                kernels,
                "Instruction set: amx, avx512, avx2, neon or plain (default: "
                "the best here)"))
      ->type_name("NAME");
}

Runtime RuntimeOptions::make() const {
  return users([&] {
    // Before any thread is made: it asks the system for AMX.
    KernelPath path = best_kernel_path();
    if (!kernels.empty()) {
      path = kernel_path(kernels).value();
    }
    const int64_t count = threads.value_or(usable_cores());
    if (count < 1 || count > 1024) {
      throw UserError(
          "--threads: expected 1 to 1024, got " + std::to_string(count));
    }
    return Runtime{std::make_shared<Executor>(static_cast<int>(count)), path};
  });
}

void add_model_path(CLI::App& command, std::string& path) {
  not_empty(command.add_option(
                "-m,--model",
                path,
                "Model: a GGUF file, or a folder as on model hubs"))
      ->type_name("FILE")
      ->required();
}

void ModelOptions::add_to(CLI::App& command) {
  add_model_path(command, path);
  not_empty(command.add_option(
                "--adapter",
                adapter,
                "LoRA adapter to apply: a folder as PEFT or mlx-lm writes it"))
      ->type_name("DIR");
  runtime.add_to(command);
  add_integer(
      command,
      "--chunk",
      chunk,
      "Most prompt tokens in one step (default 512)");
  command
      .add_option(
          "--kv",
          state.kv,
          "Precision of the state, KEYS[/VALUES][@START]: bf16 (default), q8, "
          "q4g32/t3, t4@1024, ...")
      ->type_name("NAME");
  not_empty(command.add_option(
                "--kv-config",
                state.kv_config,
                "JSON file with the precision of groups and layers"))
      ->type_name("FILE");
  add_integer(
      command,
      "--max-state-bytes",
      max_state_bytes,
      "Refuse to hold more state than this (default: no limit)");
  command.add_flag(
      "--reference",
      state.reference_read,
      "Read the state the slow, plain way, to compare with");
}

void ModelOptions::add_compiled_to(CLI::App& command) {
  command.add_flag(
      "--compiled",
      compiled,
      "Trace a step's graph once for each number of tokens and replay it");
}

void ModelOptions::validate() const {
  require_model(path);
  if (!state.kv_config.empty()) {
    require_regular(state.kv_config);
  }
  users([&] { return state.policy(); });
  if (compiled && state.reference_read) {
    throw UserError(
        "--compiled: expected it without --reference, whose graph is another "
        "at every step");
  }
  if (chunk < 1) {
    throw UserError(
        "--chunk: expected at least 1, got " + std::to_string(chunk));
  }
  if (max_state_bytes.value_or(1) < 1) {
    throw UserError(
        "--max-state-bytes: expected at least 1, got " +
        std::to_string(*max_state_bytes));
  }
}

LoadedModel ModelOptions::load(double& milliseconds) const {
  const Runtime made = runtime.make();
  const FileGuard guard(path);
  ProgressLine line("loading");
  line.update(0, 1);
  const auto progress = [&line](Bytes done, Bytes total) {
    line.update(done.get(), total.get());
  };
  LoadedModel loaded = load_model(path, made, progress, adapter);
  milliseconds = process_milliseconds();
  return loaded;
}

std::unique_ptr<State>
ModelOptions::make_state(const LoadedModel& loaded) const {
  StateChoice choice = state;
  choice.max_bytes = Bytes(max_state_bytes.value_or(0));
  return users([&] { return holdfast::make_state(loaded, choice); });
}

std::unique_ptr<const CompiledModel>
ModelOptions::compile(const LoadedModel& loaded) const {
  return compiled ? std::make_unique<const CompiledModel>(*loaded.model)
                  : nullptr;
}

void PromptOptions::add_to(CLI::App& command) {
  add_repeated(
      command, "-p,--prompt", texts, "The prompt; several make one batch");
  not_empty(
      add_repeated(command, "-f,--file", files, "A file that holds the prompt"))
      ->type_name("FILE");
}

std::vector<std::string> PromptOptions::read() const {
  std::vector<std::string> prompts = texts;
  for (const std::string& file : files) {
    prompts.push_back(read_text_file(file));
  }
  if (prompts.empty()) {
    if (isatty(STDIN_FILENO) == 1) {
      throw UserError(
          "expected a prompt: -p TEXT, -f FILE, or text on standard input");
    }
    prompts.push_back(read_all(STDIN_FILENO, "standard input"));
  }
  return prompts;
}

std::string read_text_file(const std::string& path) {
  const Descriptor file(path);
  return read_all(file.get(), path);
}

void require_regular(const std::string& path) {
  // Opening a pipe that nobody writes to would wait for ever.
  const Descriptor file(path, O_NONBLOCK);
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) {
    refuse(path, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    throw UserError(path + ": expected a regular file");
  }
}

void require_model(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    require_regular(path);
  }
}

} // namespace holdfast::app
