// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/key_claims.h"

#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/base/sha256.h"

namespace holdfast {

/// Whoever makes or removes a claim's file has the folder's lock: a file that
/// another removed between its opening and its locking would lock nothing.
struct KeyClaims::Folder {
  /// Of the claim of all keys: no key is empty.
  static std::string all() {
    return sha256("").hex();
  }
  std::shared_ptr<FileSystem> files;
  std::string path;

  Result<std::unique_ptr<FileLock>> lock() const {
    return files->lock(path + "/lock", FileSystem::Wait::kYes);
  }
  /// With the lock: what is claimed. Removes files whose owners died.
  Result<std::set<std::string>> digests() const {
    const auto names = files->list(path);
    if (!names.ok()) {
      return names.status();
    }
    std::set<std::string> claimed;
    for (const std::string& name : names.value()) {
      if (!Digest256::from_hex(name)) {
        continue; // not ours
      }
      const std::string file = path + "/" + name;
      // One that cannot be removed stays for the next who tries.
      if (!files->lock(file, FileSystem::Wait::kNo).ok()) {
        claimed.insert(name);
      } else {
        (void)files->remove(file).ok();
      }
    }
    return claimed;
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
  return lock.ok() ? folder_->digests()
                   : Result<std::set<std::string>>(lock.status());
}

Result<std::shared_ptr<void>> KeyClaims::claim(const std::string& key) {
  expect(!key.empty(), "[claim] expected a key, got an empty one");
  return claimed_as(
      sha256(key).hex(), "one that another run has: \"" + key + '"');
}

Result<std::shared_ptr<void>> KeyClaims::claim_all() {
  return claimed_as(Folder::all(), "some that other runs have");
}

Result<std::shared_ptr<void>>
KeyClaims::claimed_as(const std::string& digest, const std::string& got) {
  const Status taken(
      ErrorCode::kUnsupported,
      "[claim] expected a key that nobody works on, got " + got);
  if (const Status made = folder_->files->create_folder(folder_->path);
      !made.ok()) {
    return made;
  }
  const auto lock = folder_->lock();
  if (!lock.ok()) {
    return lock.status();
  }
  const auto others = folder_->digests();
  if (!others.ok()) {
    return others.status();
  }
  if (others.value().contains(Folder::all()) ||
      (digest == Folder::all() && !others.value().empty())) {
    return taken;
  }
  const std::string file = folder_->path + "/" + digest;
  auto held = folder_->files->lock(file, FileSystem::Wait::kNo);
  if (!held.ok()) {
    return held.status().code() != ErrorCode::kOutOfBudget ? held.status()
                                                           : taken;
  }
  return std::shared_ptr<void>(
      std::make_shared<Claim>(folder_, file, std::move(held).value()));
}

} // namespace holdfast
