// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Any file system, with calls that fail where a test says so, and a trace of
// all calls. Threads: any; the order of calls is then the order in which they
// came here.
//
// A call that fails did nothing, but for kShortWrite, and for changes that meet
// kPowerLoss: those may be on the device or not, so they are passed on to the
// file system below, whose power_loss() decides. A sync that failed loses what
// was not synced (LossyFile), and every later sync of that File fails.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "holdfast/env/file_system.h"

namespace holdfast {

enum class FileCall {
  kOpen,
  kCreate,
  kRead,
  kWrite,
  kTruncate,
  kSync,
  kPunch,
  kFileFacts,
  kMap,
  kRename,
  kRemove,
  kCreateFolder,
  kSyncFolder,
  kList,
  kFacts,
  kFreeSpace,
  kLock,
  kWillNeed,
};
inline constexpr int kFileCalls = 18;
const char* name(FileCall call);

/// Which calls fail, and how.
struct FileFault {
  enum class Kind {
    kIo,
    kOutOfBudget,
    kShortWrite, // a write leaves its first half; other calls: kIo
    kPowerLoss, // this call and every one after it
  };
  Kind kind = Kind::kIo;
  /// Calls of `only`, or of any kind, that succeed before: 0 fails the next.
  int64_t after = 0;
  bool once = true; // else every one from there on
  std::optional<FileCall> only = std::nullopt;
};

class FaultyFileSystem : public FileSystem {
 public:
  explicit FaultyFileSystem(std::shared_ptr<FileSystem> below);
  ~FaultyFileSystem() override;

  /// From now on, in place of an earlier fault. Calls are counted from here.
  void fail(FileFault fault);
  /// Nothing fails any more, but for files with a failed sync.
  void heal();
  /// Calls since the last fail(), or ever.
  int64_t calls() const;
  /// Calls that were made to fail since then.
  int64_t failed() const;
  /// The last 256 calls, one a line: number, call, path, range, what failed.
  std::string trace() const;

  Result<std::unique_ptr<File>>
  open(const std::string& path, Access access) override;
  Result<std::unique_ptr<File>> create(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status create_folder(const std::string& path) override;
  Status sync_folder(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<FileFacts> facts(const std::string& path) override;
  Result<Bytes> free_space(const std::string& path) override;
  Result<std::unique_ptr<FileLock>>
  lock(const std::string& path, Wait wait) override;
  Status will_need(std::span<const std::byte> mapped) override;

 private:
  class Script;
  class FaultyFile;

  Result<std::unique_ptr<File>>
  wrapped(Result<std::unique_ptr<File>> file) const;

  std::shared_ptr<FileSystem> below_;
  std::shared_ptr<Script> script_;
};

} // namespace holdfast
