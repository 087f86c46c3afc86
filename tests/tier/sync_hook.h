// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A file system that calls a test while a segment is being written: its bytes
// are there and not synced, no lock is held. Threads: any.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "holdfast/env/faulty_file_system.h"

namespace holdfast::test {

class SyncHook : public FaultyFileSystem {
 public:
  explicit SyncHook(std::shared_ptr<FileSystem> below)
      : FaultyFileSystem(std::move(below)) {}

  Result<std::unique_ptr<File>> create(const std::string& path) override {
    auto file = FaultyFileSystem::create(path);
    if (!file.ok() || !path.ends_with(".unfinished")) {
      return file;
    }
    return std::unique_ptr<File>(
        std::make_unique<Hooked>(std::move(file).value(), *this));
  }

  /// Set between stores.
  std::function<void()> before_sync = [] {};

 private:
  class Hooked : public File {
   public:
    Hooked(std::unique_ptr<File> below, SyncHook& owner)
        : below_(std::move(below)), owner_(owner) {}
    Status read(Bytes offset, std::span<std::byte> into) const override {
      return below_->read(offset, into);
    }
    Status write(Bytes offset, std::span<const std::byte> from) override {
      return below_->write(offset, from);
    }
    Status truncate(Bytes size) override {
      return below_->truncate(size);
    }
    Status sync() override {
      owner_.before_sync();
      return below_->sync();
    }
    Status punch(Bytes offset, Bytes length) override {
      return below_->punch(offset, length);
    }
    Result<FileFacts> facts() const override {
      return below_->facts();
    }
    Result<MappedBytes> map(Bytes offset, Bytes length) const override {
      return below_->map(offset, length);
    }
    const std::string& path() const override {
      return below_->path();
    }
    Status
    write_pieces(Bytes offset, Pieces pieces, Remember remember) override {
      return below_->write_pieces(offset, pieces, remember);
    }

   private:
    std::unique_ptr<File> below_;
    SyncHook& owner_;
  };
};

} // namespace holdfast::test
