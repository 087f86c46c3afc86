// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/tier_folder.h"

#include <charconv>
#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <tuple>
#include <utility>

#include "holdfast/tier/paths.h"

namespace holdfast {

namespace {

constexpr size_t kIdDigits = 16;
constexpr std::string_view kSegmentEnd = ".segment";
constexpr std::string_view kUnfinishedEnd = ".unfinished";
constexpr std::string_view kLeaseEnd = ".lease";
constexpr std::string_view kLockEnd = ".lock";
// A commit has the folder's lock for some milliseconds.
constexpr std::chrono::milliseconds kBetweenTries{10};
constexpr int kPatientTries = 100;
constexpr std::string_view kAsideBegin = "manifest-";
constexpr std::string_view kAsideEnd = ".aside";
constexpr std::string_view kJournalEnd = "-journal";

/// Another process, or another tier of this one, has the lock.
bool is_busy(const Result<std::unique_ptr<FileLock>>& lock) {
  return lock.status().code() == ErrorCode::kOutOfBudget;
}

std::string hex(uint64_t value) {
  std::string text(kIdDigits, '0');
  char digits[kIdDigits];
  const auto end = std::to_chars(digits, digits + kIdDigits, value, 16).ptr;
  text.replace(
      kIdDigits - static_cast<size_t>(end - digits),
      static_cast<size_t>(end - digits),
      digits,
      static_cast<size_t>(end - digits));
  return text;
}

std::optional<uint64_t> number(std::string_view text, int base) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string stem(SegmentIdentity identity) {
  return hex(identity.writer) + "-" + std::to_string(identity.number);
}

std::optional<SegmentIdentity> identity_of(std::string_view stem) {
  if (stem.size() < kIdDigits + 2 || stem[kIdDigits] != '-') {
    return std::nullopt;
  }
  const auto writer = number(stem.substr(0, kIdDigits), 16);
  const auto count = number(stem.substr(kIdDigits + 1), 10);
  if (!writer || !count) {
    return std::nullopt;
  }
  const SegmentIdentity identity{*writer, *count};
  // One spelling a name: no capitals, no leading zeros.
  return holdfast::stem(identity) == stem ? std::optional(identity)
                                          : std::nullopt;
}

std::optional<std::string_view>
without(std::string_view name, std::string_view end) {
  return name.ends_with(end)
      ? std::optional(name.substr(0, name.size() - end.size()))
      : std::nullopt;
}

/// A name in open/: "<tier>.lock", "<tier>-<n>.unfinished",
/// "<tier>.<n>.<writer>-<n>.lease".
struct OpenName {
  std::string tier;
  std::optional<SegmentIdentity> leased;
  std::optional<SegmentIdentity> unfinished;
};

std::optional<OpenName> parse_open_name(std::string_view name) {
  if (name.size() <= kIdDigits || !number(name.substr(0, kIdDigits), 16)) {
    return std::nullopt;
  }
  OpenName result{std::string(name.substr(0, kIdDigits)), {}, {}};
  if (const auto rest = without(name, kUnfinishedEnd)) {
    result.unfinished = identity_of(*rest);
    return result.unfinished ? std::optional(result) : std::nullopt;
  }
  if (const auto rest = without(name, kLeaseEnd)) {
    const size_t dot = rest->find('.', kIdDigits + 1);
    if (dot == std::string_view::npos) {
      return std::nullopt;
    }
    result.leased = identity_of(rest->substr(dot + 1));
    return result.leased ? std::optional(result) : std::nullopt;
  }
  return without(name, kLockEnd) && name.size() == kIdDigits + kLockEnd.size()
      ? std::optional(result)
      : std::nullopt;
}

uint64_t drawn_id() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

} // namespace

std::string segment_file_name(SegmentIdentity identity) {
  return stem(identity) + std::string(kSegmentEnd);
}

std::optional<SegmentIdentity> segment_of_file_name(std::string_view name) {
  const auto rest = without(name, kSegmentEnd);
  return rest ? identity_of(*rest) : std::nullopt;
}

TierFolder::TierFolder(std::shared_ptr<FileSystem> files, std::string folder)
    : files_(std::move(files)), folder_(std::move(folder)) {}

void TierFolder::enter() {
  files_->create_folder(folder_).check();
  files_->create_folder(path(kOpen)).check();
  // Whatever is durable below is found only where these names are.
  files_->sync_folder(folder_of_path(folder_)).check();
  files_->sync_folder(folder_).check();
  id_ = drawn_id();
  // Whoever finds the file without its lock takes this tier for dead and
  // removes it, so nobody may look between its making and its locking.
  const std::unique_ptr<FileLock> folder_lock = lock();
  alive_ = value_of(files_->lock(
      open_path(hex(id_) + std::string(kLockEnd)), FileSystem::Wait::kNo));
}

TierFolder::~TierFolder() {
  if (!alive_) {
    return;
  }
  // Whoever opens the folder next removes what fails to go here; a process that
  // was stopped while it had the lock would hold this one's end up.
  auto folder_lock = files_->lock(path(kLock), FileSystem::Wait::kNo);
  for (int i = 0; i < kPatientTries && is_busy(folder_lock); ++i) {
    std::this_thread::sleep_for(kBetweenTries);
    folder_lock = files_->lock(path(kLock), FileSystem::Wait::kNo);
  }
  const auto names = files_->list(path(kOpen));
  alive_.reset();
  if (!folder_lock.ok() || !names.ok()) {
    return;
  }
  for (const std::string& name : names.value()) {
    if (name.starts_with(hex(id_))) {
      std::ignore = files_->remove(open_path(name));
    }
  }
}

std::unique_ptr<FileLock> TierFolder::lock() {
  return value_of(files_->lock(path(kLock), FileSystem::Wait::kYes));
}

bool TierFolder::is_fixed(std::string_view name) {
  return name == kManifest || name == kJournal || name == kLock ||
      name == kOpen || name == kClaims;
}

std::string TierFolder::set_aside_name() {
  return std::string(kAsideBegin) + stem(next_segment()) +
      std::string(kAsideEnd);
}

bool TierFolder::is_set_aside(std::string_view name) {
  const auto rest =
      without(without(name, kJournalEnd).value_or(name), kAsideEnd);
  return rest && rest->starts_with(kAsideBegin) &&
      identity_of(rest->substr(kAsideBegin.size()));
}

SegmentIdentity TierFolder::next_segment() {
  return {id_, next_++};
}

std::string TierFolder::unfinished_path(SegmentIdentity identity) const {
  return open_path(stem(identity) + std::string(kUnfinishedEnd));
}

std::string TierFolder::lease(SegmentIdentity identity) {
  const std::string path = open_path(
      hex(id_) + "." + std::to_string(next_++) + "." + stem(identity) +
      std::string(kLeaseEnd));
  value_of(files_->create(path));
  return path;
}

bool TierFolder::is_alive(const std::string& tier) const {
  if (tier == hex(id_)) {
    return true;
  }
  const auto lock = files_->lock(
      open_path(tier + std::string(kLockEnd)), FileSystem::Wait::kNo);
  if (is_busy(lock)) {
    return true;
  }
  lock.status().check();
  return false; // nobody had it
}

void TierFolder::begin_writing(SegmentIdentity identity) {
  const std::lock_guard lock(writing_mutex_);
  writing_.insert(identity);
}

void TierFolder::end_writing(SegmentIdentity identity) {
  const std::lock_guard lock(writing_mutex_);
  writing_.erase(identity);
}

bool TierFolder::is_writing(SegmentIdentity identity) {
  const std::lock_guard lock(writing_mutex_);
  return writing_.contains(identity);
}

Bytes TierFolder::remove_unfinished(
    const std::string& name,
    std::vector<TierFinding>& findings) {
  const auto facts = files_->facts(open_path(name));
  const Status status = files_->remove(open_path(name));
  if (status.code() == ErrorCode::kNotFound) {
    return Bytes();
  }
  if (!status.ok()) { // nobody will write the rest of it
    return facts.ok() ? facts.value().allocated : Bytes();
  }
  findings.push_back(
      {std::string(kOpen) + "/" + name,
       facts.ok() ? facts.value().size : Bytes(),
       TierFinding::Action::kRemoved,
       "a store that its process did not finish"});
  return Bytes();
}

OpenTiers TierFolder::open_tiers(std::vector<TierFinding>& findings) {
  OpenTiers result;
  std::map<std::string, std::vector<std::pair<std::string, OpenName>>> tiers;
  for (const std::string& name : value_of(files_->list(path(kOpen)))) {
    if (const auto parsed = parse_open_name(name)) {
      tiers[parsed->tier].emplace_back(name, *parsed);
    } else if (const auto facts = files_->facts(open_path(name)); facts.ok()) {
      result.foreign += facts.value().size;
    }
  }
  for (const auto& [tier, names] : tiers) {
    if (is_alive(tier)) {
      for (const auto& [name, parsed] : names) {
        if (parsed.leased) {
          result.leased.insert(*parsed.leased);
          ++result.leases;
        } else if (
            parsed.unfinished && tier == hex(id_) &&
            !is_writing(*parsed.unfinished)) {
          result.unfinished += remove_unfinished(name, findings);
        } else if (parsed.unfinished) {
          const auto facts = files_->facts(open_path(name));
          result.unfinished += facts.ok() ? facts.value().size : Bytes();
        }
      }
      continue;
    }
    for (const auto& [name, parsed] : names) {
      if (parsed.unfinished) {
        const auto facts = files_->facts(open_path(name));
        const Bytes left = remove_unfinished(name, findings);
        result.unfinished += left;
        result.abandoned +=
            facts.ok() && left == Bytes() ? facts.value().allocated : Bytes();
      } else {
        std::ignore = files_->remove(open_path(name)); // no longer a lease
      }
    }
    std::ignore = files_->remove(open_path(tier + std::string(kLockEnd)));
  }
  return result;
}

} // namespace holdfast
