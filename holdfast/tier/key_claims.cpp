// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/key_claims.h"

#include <utility>

#include "holdfast/base/sha256.h"

namespace holdfast {

/// Whoever makes or removes a claim's file has the folder's lock: a file that
/// another removed between its opening and its locking would lock nothing.
struct KeyClaims::Folder {
  std::shared_ptr<FileSystem> files;
  std::string path;

  Result<std::unique_ptr<FileLock>> lock() const {
    return files->lock(path + "/lock", FileSystem::Wait::kYes);
  }
  /// With the lock: removes files whose owners died.
  void sweep() const {
    const auto names = files->list(path);
    if (!names.ok()) {
      return;
    }
    for (const std::string& name : names.value()) {
      if (!Digest256::from_hex(name)) {
        continue; // not ours
      }
      const std::string file = path + "/" + name;
      if (files->lock(file, FileSystem::Wait::kNo).ok()) {
        (void)files->remove(file).ok(); // the next one tries again
      }
    }
  }
};

struct KeyClaims::Claim {
  std::shared_ptr<const Folder> folder;
  std::string file;
  std::unique_ptr<FileLock> held;

  Claim(
      std::shared_ptr<const Folder> in,
      std::string path,
      std::unique_ptr<FileLock> lock)
      : folder(std::move(in)), file(std::move(path)), held(std::move(lock)) {}
  ~Claim() {
    const auto lock = folder->lock();
    if (lock.ok()) {
      (void)folder->files->remove(file).ok();
    }
    held.reset();
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
};

KeyClaims::KeyClaims(std::shared_ptr<FileSystem> files, std::string folder)
    : folder_(std::make_shared<const Folder>(
          Folder{std::move(files), std::move(folder)})) {}

Result<std::set<std::string>> KeyClaims::claimed() const {
  const auto exists = folder_->files->facts(folder_->path);
  if (exists.status().code() == ErrorCode::kNotFound) {
    return std::set<std::string>(); // no claim was ever made
  }
  const auto lock = folder_->lock();
  if (!lock.ok()) {
    return lock.status();
  }
  folder_->sweep();
  const auto names = folder_->files->list(folder_->path);
  if (!names.ok()) {
    return names.status();
  }
  std::set<std::string> digests;
  for (const std::string& name : names.value()) {
    if (Digest256::from_hex(name)) {
      digests.insert(name);
    }
  }
  return digests;
}

Result<std::shared_ptr<void>> KeyClaims::claim(const std::string& key) {
  if (const Status made = folder_->files->create_folder(folder_->path);
      !made.ok()) {
    return made;
  }
  const auto lock = folder_->lock();
  if (!lock.ok()) {
    return lock.status();
  }
  folder_->sweep();
  const std::string file = folder_->path + "/" + sha256(key).hex();
  auto held = folder_->files->lock(file, FileSystem::Wait::kNo);
  if (!held.ok()) {
    return held.status().code() != ErrorCode::kOutOfBudget
        ? held.status()
        : Status(
              ErrorCode::kUnsupported,
              "[claim] expected a key that nobody works on, got one that "
              "another run has: \"" +
                  key + "\"");
  }
  return std::shared_ptr<void>(
      std::make_shared<Claim>(folder_, file, std::move(held).value()));
}

} // namespace holdfast
