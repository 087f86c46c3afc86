// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// SHA-256 of a file's content, and a table of those computed before. Threads:
// any; two that ask for one file at once may both read it.
//
// A digest is remembered for (device, inode, size, modified, changed): a file
// that differs in one of them is read anew. Times of files have a grain, so a
// file that was changed less than two seconds before it was read is not
// remembered: a later change could leave the same time. Links are not followed:
// resolve paths before.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "holdfast/base/sha256.h"
#include "holdfast/base/status.h"
#include "holdfast/env/clock.h"
#include "holdfast/env/file_identity.h"
#include "holdfast/env/file_system.h"

namespace holdfast {

/// What goes on while a file is read, piece by piece of 1 MiB.
struct DigestWork {
  std::function<void(Bytes done, Bytes total)> progress;
  const std::atomic<bool>* interrupted = nullptr;
};

/// kStale where `work` was interrupted, kIo where the file changed meanwhile.
Result<Digest256> file_digest(const File& file, const DigestWork& work = {});

class FileDigests {
 public:
  /// `table`: where they are remembered; in a folder that exists when the first
  /// is. What is there and cannot be read is no table: every file is read anew.
  FileDigests(
      std::shared_ptr<FileSystem> system,
      std::string table,
      std::shared_ptr<Clock> clock);

  Result<Digest256>
  digest(const std::string& path, const DigestWork& work = {});
  /// The same of a file that was opened before: kStale where the path is
  /// another file meanwhile, or has other content.
  Result<Digest256> digest_of(
      const FileIdentity& opened,
      const std::string& path,
      const DigestWork& work = {});
  /// What came of the last time the table was written. A digest is right
  /// without.
  Status saved() const;

 private:
  using Table = std::map<FileIdentity, Digest256>;

  static FileIdentity identity(const FileFacts& facts);
  /// opened: the only file that is read, if any.
  Result<Digest256> digest_if(
      const std::string& path,
      const std::optional<FileIdentity>& opened,
      const DigestWork& work);
  static std::string text_of(const Table& table);
  static bool parse(const std::string& text, Table& into);
  Table load() const;
  Status save();

  std::shared_ptr<FileSystem> system_;
  std::string path_;
  std::shared_ptr<Clock> clock_;
  mutable std::mutex mutex_;
  Table table_;
  bool loaded_ = false;
  Status saved_;
};

} // namespace holdfast
