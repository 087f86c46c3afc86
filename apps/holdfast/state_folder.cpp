// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "state_folder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "console.h"
#include "errors.h"
#include "holdfast/env/file_digest.h"
#include "holdfast/env/posix_file_system.h"
#include "options.h"

namespace holdfast::app {

namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kMostDisk = 20 * kGiB;

/// Memory that the system says a process may take, in bytes.
int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  int64_t kib = 0;
  while (file >> word) {
    if (word == "MemAvailable:" && file >> kib) {
      return kib * 1024;
    }
  }
  return 2 * kGiB;
}

} // namespace

void StateFolder::add_to(CLI::App& command) {
  not_empty(command
                .add_option(
                    "--state",
                    path_,
                    "Keep prompts and their state in this folder, for later "
                    "runs (default: none, which keeps nothing)")
                ->type_name("DIR"));
  add_integer(
      command,
      "--max-disk-bytes",
      max_disk_bytes_,
      "Most bytes of that folder (default: 20 GiB, or a tenth of what is "
      "free)");
  add_integer(
      command,
      "--max-cache-bytes",
      max_cache_bytes_,
      "Most bytes of state kept in memory for later prompts (default: half of "
      "what is available)");
}

void StateFolder::make_folders() const {
  namespace fs = std::filesystem;
  const fs::path folder(path_);
  std::error_code error;
  if (fs::exists(folder / "tier", error)) {
    return;
  }
  fs::create_directories(folder.parent_path(), error);
  const auto files = posix_file_system();
  for (const fs::path& made : {folder, folder / "tier"}) {
    if (const Status status = files->create_folder(made.string());
        !status.ok()) {
      throw UserError("--state: " + status.text());
    }
  }
  std::fprintf(
      stderr,
      "holdfast: prompts, texts and their state are kept in %s for later runs; "
      "--state none keeps nothing\n",
      printable(folder.string()).c_str());
}

std::string StateFolder::digest(const std::string& model_path) const {
  make_folders();
  FileDigests digests(posix_file_system(), path_ + "/digests", system_clock());
  ProgressLine line("hashing the model");
  std::error_code error;
  const auto real = std::filesystem::canonical(model_path, error);
  const DigestWork work{
      .progress = [&](Bytes done,
                      Bytes total) { line.update(done.get(), total.get()); },
      .interrupted = nullptr};
  const Result<Digest256> digest =
      digests.digest(error ? model_path : real.string(), work);
  line.clear();
  if (!digest.ok()) {
    throw UserError(digest.status().text());
  }
  return digest.value().hex();
}

std::shared_ptr<DiskTier> StateFolder::open() const {
  make_folders();
  const auto files = posix_file_system();
  DiskTierOptions options{
      .folder = path_ + "/tier", .files = files, .clock = system_clock()};
  if (max_disk_bytes_) {
    options.max_bytes = Bytes(*max_disk_bytes_);
  } else {
    const Result<Bytes> free = files->free_space(path_);
    const int64_t tenth = free.ok() ? free.value().get() / 10 : kMostDisk;
    options.max_bytes = Bytes(std::min(kMostDisk, tenth));
  }
  Result<std::unique_ptr<DiskTier>> tier = DiskTier::open(options);
  if (!tier.ok()) {
    throw UserError("--state: " + tier.status().text());
  }
  return std::move(tier).value();
}

PrefixCacheOptions StateFolder::cache_options() const {
  PrefixCacheOptions options;
  options.ram = Bytes(max_cache_bytes_.value_or(available_memory() / 2));
  options.disk = kept() ? open() : nullptr;
  return options;
}

void flush_state(PrefixCache& cache, double seconds) {
  const auto clock = system_clock();
  const FlushReport report = cache.flush(
      {.until = clock->now() +
           std::chrono::duration_cast<Clock::Duration>(
                    std::chrono::duration<double>(seconds)),
       .last = true});
  if (!report.durable && report.pending + report.failed + report.dropped > 0) {
    std::fprintf(
        stderr,
        "holdfast: not all state was saved: %s\n",
        report.text().c_str());
  }
}

} // namespace holdfast::app
