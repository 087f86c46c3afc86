// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "resume_options.h"

#include <chrono>
#include <utility>

#include "chat_record.h"
#include "console.h"
#include "errors.h"
#include "options.h"

namespace holdfast::app {

namespace {

constexpr double kMostSeconds = 86400;

} // namespace

void CheckpointOptions::add_to(CLI::App& command) {
  add_integer(
      command,
      "--checkpoint-tokens",
      tokens,
      "Keep what can be resumed every N tokens of a text (default 64)");
  command
      .add_option(
          "--checkpoint-seconds",
          seconds,
          "And at least every X seconds (default 2)")
      ->type_name("X");
}

void CheckpointOptions::validate() const {
  if (tokens < 1) {
    throw UserError(
        "--checkpoint-tokens: expected at least 1, got " +
        std::to_string(tokens));
  }
  if (!(seconds >= 0.001 && seconds <= kMostSeconds)) {
    throw UserError(
        "--checkpoint-seconds: expected 0.001 to 86400, got " +
        std::to_string(seconds));
  }
}

ResumableOptions CheckpointOptions::with(std::string key) const {
  return {
      .key = std::move(key),
      .every_tokens = tokens,
      .every = std::chrono::duration_cast<Clock::Duration>(
          std::chrono::duration<double>(seconds))};
}

void ResumeOptions::add_to(CLI::App& command) {
  command
      .add_option(
          "--id",
          key_,
          "With --state DIR: keep what is generated under this name; the same "
          "command goes on where it was interrupted")
      ->type_name("KEY");
  checkpoints_.add_to(command);
}

void ResumeOptions::validate(const StateFolder& folder, bool reference) const {
  checkpoints_.validate();
  if (!key_) {
    return;
  }
  if (key_->empty() || key_->size() > kMaxGenerationKey) {
    throw UserError(
        "--id: expected 1 to 1024 bytes, got " + std::to_string(key_->size()));
  }
  if (is_of_chats(*key_)) {
    throw UserError(
        "--id: expected a name that does not begin as those of chats' answers, "
        "got \"" +
        *key_ + "\"");
  }
  if (reference) {
    throw UserError(
        "--id: expected without --reference, whose results depend on where a "
        "prompt is cut into chunks, got both");
  }
  if (!folder.kept()) { // last, for it makes the folder
    throw UserError("--id: expected with --state DIR, got no folder");
  }
}

std::unique_ptr<ResumableRun> ResumeOptions::begin(PrefixCache* cache) const {
  if (!key_) {
    return nullptr;
  }
  auto run = users([&] {
    return std::make_unique<ResumableRun>(*cache, checkpoints_.with(*key_));
  });
  if (!run->damage().empty()) {
    complain(
        "what an interrupted run of --id \"" + *key_ +
        "\" left is damaged, so it begins anew: " + run->damage());
  }
  return run;
}

void ResumeOptions::end(ResumableRun& run, bool whole) const {
  if (whole) {
    run.complete();
  }
  const auto clock = system_clock();
  const ContinuationReport report = run.flush(clock->now() + kFlushPatience);
  const std::string why = report.failure.empty()
      ? std::string()
      : "; last failure: " + report.failure;
  if (whole && !report.durable) {
    complain(
        "--id \"" + *key_ +
        "\": the finished text could not be removed from the folder; the next "
        "run of it may give it again" +
        why);
  } else if (!report.durable) {
    complain(
        "--id \"" + *key_ +
        "\": the end of the text was not saved; the next run goes on from the "
        "last checkpoint" +
        why);
  } else if (!whole) {
    complain(
        "--id \"" + *key_ +
        "\" is kept: the same command goes on where this one ended");
  }
}

} // namespace holdfast::app
