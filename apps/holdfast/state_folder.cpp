// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "state_folder.h"

#include <cstdio>

#include "console.h"
#include "errors.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/prefix/scope.h"
#include "holdfast/state/foreign_bits.h"
#include "model_digest.h"
#include "options.h"
#include "state_opening.h"
#include "state_place.h"
#include "state_target.h"

namespace holdfast::app {

namespace {

void require_bytes(const char* name, const std::optional<int64_t>& bytes) {
  if (bytes.value_or(1) < 1) {
    throw UserError(
        std::string(name) + ": expected at least 1, got " +
        std::to_string(*bytes));
  }
}

} // namespace

void StateFolder::add_to(CLI::App& command) {
  not_empty(command
                .add_option(
                    "--state",
                    path_,
                    "Keep prompts and their state in this folder, for later "
                    "runs (default: holdfast in your data folder); none: keep "
                    "nothing")
                ->type_name("DIR"));
  add_integer(
      command,
      "--max-disk-bytes",
      max_disk_bytes_,
      "Most bytes of that folder (default: 20 GiB, or a tenth of what is "
      "free)");
  add_integer(
      command,
      "--daily-bytes",
      daily_bytes_,
      "Most bytes written into that folder a day (default: no limit)");
  add_integer(
      command,
      "--max-cache-bytes",
      max_cache_bytes_,
      "Most bytes of state kept in memory for later prompts (default: half of "
      "what is available)");
}

void StateFolder::add_foreign_to(CLI::App& command) {
  not_empty(command
                .add_option(
                    "--foreign-bits",
                    foreign_,
                    "Go on from this imported record, whose state another "
                    "engine or kernel path computed")
                ->type_name("NAME"));
}

std::string StateFolder::foreign() const {
  if (foreign_.empty()) {
    return "";
  }
  if (!kept()) {
    throw UserError("--foreign-bits: expected a folder of state, got none");
  }
  const RecordName name = find_record(*tier_, foreign_);
  const Scope scope =
      Scope::parse(tier_->record_text(name).value().scope).value();
  const auto foreign = foreign_bits(scope.signature());
  if (!foreign) {
    throw UserError(
        "--foreign-bits: expected a record of foreign bits, got " +
        shown(name) + ", whose bits are our own");
  }
  return foreign->text();
}

bool StateFolder::kept() const {
  if (folder_) {
    return !folder_->empty();
  }
  require_bytes("--max-disk-bytes", max_disk_bytes_);
  require_bytes("--daily-bytes", daily_bytes_);
  require_bytes("--max-cache-bytes", max_cache_bytes_);
  if (path_ == "none") {
    folder_.emplace();
    return false;
  }
  folder_ = path_.empty() ? default_state_folder().value_or("") : path_;
  if (folder_->empty()) {
    complain("no home folder: nothing is kept for later runs");
    return false;
  }
  try {
    open();
  } catch (const UserError& error) {
    if (!path_.empty()) {
      throw;
    }
    complain(std::string(error.what()) + ": nothing is kept for later runs");
    folder_.emplace();
  }
  return !folder_->empty();
}

void StateFolder::make_folders() const {
  const auto files = posix_file_system();
  if (files->facts(tier_folder(*folder_)).ok()) {
    return;
  }
  if (const Status made = make_state_folder(*files, *folder_); !made.ok()) {
    throw UserError("--state: " + made.text());
  }
  std::fprintf(
      stderr,
      "holdfast: prompts, texts and their state are kept in %s for later runs; "
      "--state none keeps nothing\n",
      printable(*folder_).c_str());
}

std::string StateFolder::digest(const std::vector<ModelPart>& parts) const {
  return model_digest(*folder_, parts);
}

void StateFolder::open() const {
  make_folders();
  const DiskTierOptions options{
      .folder = tier_folder(*folder_),
      .max_bytes = max_disk_bytes_ ? Bytes(*max_disk_bytes_)
                                   : default_disk_bytes(*folder_),
      .daily_bytes = Bytes(daily_bytes_.value_or(0)),
      .files = posix_file_system(),
      .clock = system_clock()};
  tier_ = open_tier(options);
}

PrefixCacheOptions StateFolder::cache_options() const {
  PrefixCacheOptions options;
  options.ram =
      max_cache_bytes_ ? Bytes(*max_cache_bytes_) : default_ram_bytes();
  options.disk = kept() ? tier_ : nullptr;
  return options;
}

} // namespace holdfast::app
