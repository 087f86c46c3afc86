// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/file_digest.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/base/checksum.h"

namespace holdfast {

namespace {

constexpr int64_t kPiece = int64_t{1} << 20;
constexpr int64_t kGrain_ns = 2'000'000'000;
// A line is at most 5 x 21 + 65 bytes: the table stays below 700 KiB.
constexpr size_t kMostEntries = 4096;
constexpr int64_t kLargestTable = 700 << 10;
constexpr std::string_view kHead = "holdfast file digests 1\n";
constexpr std::string_view kFoot = "checksum ";

/// Takes a number and the space behind it off the front of `text`.
template <class Number>
bool take(std::string_view& text, Number& into) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, into);
  if (error != std::errc() || rest == end || *rest != ' ') {
    return false;
  }
  text.remove_prefix(static_cast<size_t>(rest + 1 - text.data()));
  return true;
}

std::optional<std::string>
read_all(FileSystem& system, const std::string& path) {
  const auto file = system.open(path, FileSystem::Access::kRead);
  if (!file.ok()) {
    return std::nullopt;
  }
  const auto facts = file.value()->facts();
  if (!facts.ok() || facts.value().size > Bytes(kLargestTable)) {
    return std::nullopt;
  }
  std::string text(static_cast<size_t>(facts.value().size.get()), '\0');
  const auto into = std::as_writable_bytes(std::span(text.data(), text.size()));
  return file.value()->read(Bytes(0), into).ok() ? std::optional(text)
                                                 : std::nullopt;
}

/// Replaces the file at `path` in one step; durable when ok. One at a time.
Status
replace(FileSystem& system, const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  Status status = system.remove(fresh); // what a crash left
  if (!status.ok() && status.code() != ErrorCode::kNotFound) {
    return status;
  }
  const auto file = system.create(fresh);
  if (!file.ok()) {
    return file.status();
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
      : slash == 0                                      ? "/"
                                                        : path.substr(0, slash);
  status = file.value()->write(
      Bytes(0), std::as_bytes(std::span(text.data(), text.size())));
  status = status.ok() ? file.value()->sync() : status;
  status = status.ok() ? system.rename(fresh, path) : status;
  return status.ok() ? system.sync_folder(folder) : status;
}

} // namespace

Result<Digest256> file_digest(const File& file, const DigestWork& work) {
  const auto before = file.facts();
  if (!before.ok()) {
    return before.status();
  }
  const int64_t size = before.value().size.get();
  std::vector<std::byte> piece(static_cast<size_t>(std::min(size, kPiece)));
  Sha256 hash;
  for (int64_t done = 0; done < size;) {
    if (work.interrupted != nullptr && work.interrupted->load()) {
      return Status(
          ErrorCode::kStale, file.path() + ": interrupted while it was read");
    }
    const auto part = std::span(piece).first(
        static_cast<size_t>(std::min(size - done, kPiece)));
    Status status = file.read(Bytes(done), part);
    if (!status.ok()) {
      return status;
    }
    hash.add(part);
    done += static_cast<int64_t>(part.size());
    if (work.progress) {
      work.progress(Bytes(done), Bytes(size));
    }
  }
  const auto after = file.facts();
  if (!after.ok()) {
    return after.status();
  }
  if (after.value().size != before.value().size ||
      after.value().modified_ns != before.value().modified_ns) {
    return Status(
        ErrorCode::kIo, file.path() + ": it changed while it was read");
  }
  return hash.finish();
}

FileDigests::FileDigests(
    std::shared_ptr<FileSystem> system,
    std::string table,
    std::shared_ptr<Clock> clock)
    : system_(std::move(system)),
      path_(std::move(table)),
      clock_(std::move(clock)) {}

FileIdentity FileDigests::identity(const FileFacts& facts) {
  return {
      facts.device,
      facts.inode,
      facts.size.get(),
      facts.modified_ns,
      facts.changed_ns};
}

Result<Digest256>
FileDigests::digest(const std::string& path, const DigestWork& work) {
  return digest_if(path, std::nullopt, work);
}

Result<Digest256> FileDigests::digest_of(
    const FileIdentity& opened,
    const std::string& path,
    const DigestWork& work) {
  return digest_if(path, opened, work);
}

Result<Digest256> FileDigests::digest_if(
    const std::string& path,
    const std::optional<FileIdentity>& opened,
    const DigestWork& work) {
  const auto file = system_->open(path, FileSystem::Access::kRead);
  if (!file.ok()) {
    return file.status();
  }
  const auto facts = file.value()->facts();
  if (!facts.ok()) {
    return facts.status();
  }
  const FileIdentity known = identity(facts.value());
  const Status changed(
      ErrorCode::kStale,
      path +
          ": expected the file that was opened before, got another or another "
          "content (replaced meanwhile?)");
  if (opened && *opened != known) {
    return changed;
  }
  {
    const std::lock_guard hold(mutex_);
    if (!std::exchange(loaded_, true)) {
      table_ = load();
    }
    if (const auto found = table_.find(known); found != table_.end()) {
      return found->second;
    }
  }
  const int64_t now = clock_->wall_ns();
  auto digest = file_digest(*file.value(), work);
  if (!digest.ok()) {
    return digest;
  }
  const int64_t newest = std::max(known.modified_ns, known.changed_ns);
  const auto after = file.value()->facts();
  if (opened && (!after.ok() || identity(after.value()) != *opened)) {
    return after.ok() ? changed : after.status();
  }
  if (newest <= now - kGrain_ns && after.ok() &&
      identity(after.value()) == known) {
    const std::lock_guard hold(mutex_);
    table_[known] = digest.value();
    saved_ = save();
  }
  return digest;
}

Status FileDigests::saved() const {
  const std::lock_guard hold(mutex_);
  return saved_;
}

FileDigests::Table FileDigests::load() const {
  Table table;
  const auto text = read_all(*system_, path_);
  if (!text || !parse(*text, table)) {
    table.clear();
  }
  return table;
}

Status FileDigests::save() {
  const auto lock = system_->lock(path_ + ".lock", FileSystem::Wait::kNo);
  if (!lock.ok()) {
    return lock.status();
  }
  // What other processes found stays.
  table_.merge(load());
  while (table_.size() > kMostEntries) {
    const auto oldest = std::ranges::min_element(
        table_, {}, [](const auto& entry) { return entry.first.changed_ns; });
    table_.erase(oldest);
  }
  return replace(*system_, path_, text_of(table_));
}

std::string FileDigests::text_of(const Table& table) {
  std::string text(kHead);
  for (const auto& [known, digest] : table) {
    text += std::to_string(known.device) + " " + std::to_string(known.inode) +
        " " + std::to_string(known.size) + " " +
        std::to_string(known.modified_ns) + " " +
        std::to_string(known.changed_ns) + " " + digest.hex() + "\n";
  }
  const uint64_t sum = checksum(text);
  return text + std::string(kFoot) + std::to_string(sum) + "\n";
}

bool FileDigests::parse(const std::string& text, Table& into) {
  const size_t foot = text.rfind(kFoot);
  if (!text.starts_with(kHead) || foot == std::string::npos) {
    return false;
  }
  const std::string_view body = std::string_view(text).substr(0, foot);
  if (text.substr(foot + kFoot.size()) !=
      std::to_string(checksum(body)) + "\n") {
    return false;
  }
  std::string_view rest = body.substr(kHead.size());
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    FileIdentity known{};
    const bool numbers = take(line, known.device) && take(line, known.inode) &&
        take(line, known.size) && take(line, known.modified_ns) &&
        take(line, known.changed_ns);
    const auto digest =
        numbers ? Digest256::from_hex(line) : std::optional<Digest256>();
    if (!digest) {
      return false;
    }
    into[known] = *digest;
  }
  return true;
}

} // namespace holdfast
