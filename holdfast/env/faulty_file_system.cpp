// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/faulty_file_system.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <sstream>
#include <utility>

#include "holdfast/env/memory_file_system.h"

namespace holdfast {

namespace {

constexpr size_t kTraced = 256;

struct CallText {
  FileCall call;
  const std::string& path;
  std::string detail;
};

const char* kind_name(FileFault::Kind kind) {
  switch (kind) {
    case FileFault::Kind::kIo:
      return "i/o error";
    case FileFault::Kind::kOutOfBudget:
      return "no room";
    case FileFault::Kind::kShortWrite:
      return "short write";
    case FileFault::Kind::kPowerLoss:
      return "power loss";
  }
  return "unknown";
}

std::string range(Bytes offset, int64_t length) {
  return std::to_string(offset.get()) + "+" + std::to_string(length);
}

} // namespace

const char* name(FileCall call) {
  static constexpr const char* kNames[kFileCalls] = {
      "open",
      "create",
      "read",
      "write",
      "truncate",
      "sync",
      "punch",
      "file facts",
      "map",
      "rename",
      "remove",
      "create folder",
      "sync folder",
      "list",
      "facts",
      "free space",
      "lock",
      "will need"};
  return kNames[static_cast<int>(call)];
}

/// Counts the calls and says which fail.
class FaultyFileSystem::Script {
 public:
  struct Verdict {
    std::optional<FileFault::Kind> fault;
    bool power_goes = false; // with this very call
  };
  Verdict next(const CallText& text) {
    const std::lock_guard hold(mutex_);
    const bool had_power = !lost_;
    const auto fault = befalls(text.call);
    std::ostringstream line;
    line << '#' << calls_ << ' ' << name(text.call) << ' ' << text.path;
    if (!text.detail.empty()) {
      line << ' ' << text.detail;
    }
    if (fault) {
      line << " -> " << kind_name(*fault);
      ++failed_;
    }
    ++calls_;
    trace_.push_back(std::move(line).str());
    if (trace_.size() > kTraced) {
      trace_.pop_front();
    }
    return {fault, lost_ && had_power};
  }

  void set(std::optional<FileFault> fault) {
    const std::lock_guard hold(mutex_);
    if (fault) {
      calls_ = 0;
      failed_ = 0;
      trace_.clear();
    }
    matching_ = 0;
    lost_ = false;
    fault_ = fault;
  }
  int64_t calls() const {
    const std::lock_guard hold(mutex_);
    return calls_;
  }
  int64_t failed() const {
    const std::lock_guard hold(mutex_);
    return failed_;
  }
  std::string trace() const {
    const std::lock_guard hold(mutex_);
    std::string text;
    for (const std::string& line : trace_) {
      text += line + "\n";
    }
    return text;
  }

 private:
  std::optional<FileFault::Kind> befalls(FileCall call) {
    if (lost_) {
      return FileFault::Kind::kPowerLoss;
    }
    if (!fault_ || (fault_->only && *fault_->only != call)) {
      return std::nullopt;
    }
    const int64_t number = matching_++;
    if (number < fault_->after || (number > fault_->after && fault_->once)) {
      return std::nullopt;
    }
    lost_ = fault_->kind == FileFault::Kind::kPowerLoss;
    return fault_->kind;
  }

  mutable std::mutex mutex_;
  std::optional<FileFault> fault_;
  int64_t calls_ = 0;
  int64_t failed_ = 0;
  int64_t matching_ = 0;
  bool lost_ = false; // the power
  std::deque<std::string> trace_;
};

namespace {

Status failure(FileFault::Kind kind, const CallText& text) {
  const bool room = kind == FileFault::Kind::kOutOfBudget;
  return Status(
      room ? ErrorCode::kOutOfBudget : ErrorCode::kIo,
      text.path + ": cannot " + name(text.call) + ": " +
          (room ? "no room left on the device" : kind_name(kind)));
}

/// Passes a call on, or fails it.
template <class Script, class Call>
auto pass(Script& script, const CallText& text, Call call) -> decltype(call()) {
  const auto verdict = script.next(text);
  if (verdict.fault) {
    return failure(*verdict.fault, text);
  }
  return call();
}

/// The same for a call that changes something until the next sync: when the
/// power goes, it may have happened.
template <class Script, class Call>
auto change(Script& script, const CallText& text, Call call)
    -> decltype(call()) {
  const auto verdict = script.next(text);
  if (verdict.fault) {
    if (verdict.power_goes) {
      (void)call();
    }
    return failure(*verdict.fault, text);
  }
  return call();
}

} // namespace

class FaultyFileSystem::FaultyFile : public File {
 public:
  FaultyFile(std::unique_ptr<File> below, std::shared_ptr<Script> script)
      : below_(std::move(below)), script_(std::move(script)) {}

  Status read(Bytes offset, std::span<std::byte> into) const override {
    return pass(
        *script_,
        {FileCall::kRead,
         path(),
         range(offset, static_cast<int64_t>(into.size()))},
        [&] { return below_->read(offset, into); });
  }
  Status write(Bytes offset, std::span<const std::byte> from) override {
    const std::span<const std::byte> pieces[] = {from};
    return write_pieces(offset, pieces, Remember::kYes);
  }
  Status write_pieces(Bytes offset, Pieces pieces, Remember remember) override;
  Status truncate(Bytes size) override {
    return change(
        *script_,
        {FileCall::kTruncate, path(), std::to_string(size.get())},
        [&] { return below_->truncate(size); });
  }
  Status sync() override;
  Status punch(Bytes offset, Bytes length) override {
    return change(
        *script_, {FileCall::kPunch, path(), range(offset, length.get())}, [&] {
          return below_->punch(offset, length);
        });
  }
  Result<FileFacts> facts() const override {
    return pass(*script_, {FileCall::kFileFacts, path(), ""}, [&] {
      return below_->facts();
    });
  }
  Result<MappedBytes> map(Bytes offset, Bytes length) const override {
    return pass(
        *script_, {FileCall::kMap, path(), range(offset, length.get())}, [&] {
          return below_->map(offset, length);
        });
  }
  const std::string& path() const override {
    return below_->path();
  }

 private:
  void write_half(Bytes offset, Pieces pieces, size_t half);

  std::unique_ptr<File> below_;
  std::shared_ptr<Script> script_;
  std::atomic<bool> sync_failed_{false};
};

Status FaultyFileSystem::FaultyFile::write_pieces(
    Bytes offset,
    Pieces pieces,
    Remember remember) {
  size_t size = 0;
  for (const auto piece : pieces) {
    size += piece.size();
  }
  const CallText text{
      FileCall::kWrite, path(), range(offset, static_cast<int64_t>(size))};
  const auto verdict = script_->next(text);
  if (!verdict.fault || verdict.power_goes) {
    const Status status = below_->write_pieces(offset, pieces, remember);
    return verdict.fault ? failure(*verdict.fault, text) : status;
  }
  if (*verdict.fault == FileFault::Kind::kShortWrite) {
    write_half(offset, pieces, size / 2);
  }
  return failure(*verdict.fault, text);
}

void FaultyFileSystem::FaultyFile::write_half(
    Bytes offset,
    Pieces pieces,
    size_t half) {
  for (const auto piece : pieces) {
    const auto part = piece.first(std::min(piece.size(), half));
    (void)below_->write(offset, part);
    offset += Bytes(static_cast<int64_t>(part.size()));
    half -= part.size();
  }
}

Status FaultyFileSystem::FaultyFile::sync() {
  const CallText text{FileCall::kSync, path(), ""};
  const auto verdict = script_->next(text);
  if (verdict.fault) {
    sync_failed_.store(true);
    // Where the power goes, what was written until then may have got there.
    auto* lossy = dynamic_cast<LossyFile*>(below_.get());
    if (lossy != nullptr && *verdict.fault != FileFault::Kind::kPowerLoss) {
      lossy->lose_unsynced();
    }
    return failure(*verdict.fault, text);
  }
  if (sync_failed_.load()) {
    return Status(
        ErrorCode::kIo, path() + ": cannot sync: an earlier sync failed");
  }
  return below_->sync();
}

FaultyFileSystem::FaultyFileSystem(std::shared_ptr<FileSystem> below)
    : below_(std::move(below)), script_(std::make_shared<Script>()) {}
FaultyFileSystem::~FaultyFileSystem() = default;

void FaultyFileSystem::fail(FileFault fault) {
  script_->set(fault);
}
void FaultyFileSystem::heal() {
  script_->set(std::nullopt);
}
int64_t FaultyFileSystem::calls() const {
  return script_->calls();
}
int64_t FaultyFileSystem::failed() const {
  return script_->failed();
}
std::string FaultyFileSystem::trace() const {
  return script_->trace();
}

Result<std::unique_ptr<File>>
FaultyFileSystem::open(const std::string& path, Access access) {
  auto file = pass(*script_, {FileCall::kOpen, path, ""}, [&] {
    return below_->open(path, access);
  });
  return wrapped(std::move(file));
}

Result<std::unique_ptr<File>>
FaultyFileSystem::create(const std::string& path) {
  auto file = change(*script_, {FileCall::kCreate, path, ""}, [&] {
    return below_->create(path);
  });
  return wrapped(std::move(file));
}

Result<std::unique_ptr<File>>
FaultyFileSystem::wrapped(Result<std::unique_ptr<File>> file) const {
  if (!file.ok()) {
    return file;
  }
  return std::unique_ptr<File>(
      std::make_unique<FaultyFile>(std::move(file).value(), script_));
}

Status
FaultyFileSystem::rename(const std::string& from, const std::string& to) {
  return change(*script_, {FileCall::kRename, from, "to " + to}, [&] {
    return below_->rename(from, to);
  });
}

Status FaultyFileSystem::remove(const std::string& path) {
  return change(*script_, {FileCall::kRemove, path, ""}, [&] {
    return below_->remove(path);
  });
}

Status FaultyFileSystem::create_folder(const std::string& path) {
  return change(*script_, {FileCall::kCreateFolder, path, ""}, [&] {
    return below_->create_folder(path);
  });
}

Status FaultyFileSystem::sync_folder(const std::string& path) {
  return pass(*script_, {FileCall::kSyncFolder, path, ""}, [&] {
    return below_->sync_folder(path);
  });
}

Result<std::vector<std::string>>
FaultyFileSystem::list(const std::string& path) {
  return pass(*script_, {FileCall::kList, path, ""}, [&] {
    return below_->list(path);
  });
}

Result<FileFacts> FaultyFileSystem::facts(const std::string& path) {
  return pass(*script_, {FileCall::kFacts, path, ""}, [&] {
    return below_->facts(path);
  });
}

Result<Bytes> FaultyFileSystem::free_space(const std::string& path) {
  return pass(*script_, {FileCall::kFreeSpace, path, ""}, [&] {
    return below_->free_space(path);
  });
}

Result<std::unique_ptr<FileLock>>
FaultyFileSystem::lock(const std::string& path, Wait wait) {
  return pass(*script_, {FileCall::kLock, path, ""}, [&] {
    return below_->lock(path, wait);
  });
}

Status FaultyFileSystem::will_need(std::span<const std::byte> mapped) {
  static const std::string kMapping = "a mapping";
  const auto size = static_cast<int64_t>(mapped.size());
  return pass(
      *script_, {FileCall::kWillNeed, kMapping, std::to_string(size)}, [&] {
        return below_->will_need(mapped);
      });
}

} // namespace holdfast
