// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Workloads over a disk tier whose file system fails, and the truth that must
// hold afterwards. Threads: one at a time.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/env/faulty_file_system.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {

/// What was acknowledged and not taken back. A removal, tried or done, takes it
/// out of what must be there; whether it may be there is the tier's business.
struct Truth {
  std::map<Tokens, std::set<ImageSlot>> images; // by path
  std::map<std::string, uint64_t> chats; // name -> version
  std::map<std::string, std::string> objects;
  bool may_evict = false; // room was short: what is gone was evicted
};

/// A tier and a client of it that goes on after errors, as a server would.
class Client {
 public:
  /// `published` is called whenever the truth changed, and before any call that
  /// may end in the middle: the truth then holds whatever becomes of that.
  Client(
      DiskTier& tier,
      const Images& images,
      Truth& truth,
      std::function<void()> published = nullptr)
      : tier_(tier),
        images_(images),
        truth_(truth),
        published_(std::move(published)) {}

  /// A turn of a chat: all tokens so far, of which a tail may be superseded.
  void turn(const std::string& name, const Tokens& tokens);
  void forget(const std::string& name, const Tokens& tokens);
  /// Its record goes, its nodes stay.
  void end(const std::string& name);
  /// From a file that another tier wrote, a few nodes at once.
  void import(const std::string& name, const Tokens& tokens);
  void put_object(const std::string& key, const std::string& value);
  void remove_object(const std::string& key);
  void evict(Bytes bytes);
  void read_all();

 private:
  void take_back(const Removed& removed);
  void publish() const {
    if (published_) {
      published_();
    }
  }

  DiskTier& tier_;
  const Images& images_;
  Truth& truth_;
  const std::function<void()> published_;
  std::map<std::string, NodeId> tails_; // the last node of a chat's last turn
  std::map<NodeId, Tokens> paths_;
};

struct Workload {
  const char* name;
  bool from_nothing; // else in a folder that a tier was opened in before
  Bytes max_bytes;
  std::function<void(Client&)> run;
  std::string folder = "/state";
};
DiskTierOptions
options_of(const std::shared_ptr<FileSystem>& files, const Workload& workload);
const std::vector<Workload>& workloads();
/// What it starts from, anew.
std::shared_ptr<MemoryFileSystem> start_of(const Workload& workload);

/// Opens the folder anew and compares it with the truth.
void expect_truth(
    const std::shared_ptr<FileSystem>& files,
    const Workload& workload,
    Truth truth,
    const Images& images);

/// Runs the workload over `files` from an empty folder.
Truth run(
    const std::shared_ptr<FileSystem>& files,
    const Workload& workload,
    const Images& images);

} // namespace holdfast::test
