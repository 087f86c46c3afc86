// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "tests/tier/crash_support.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "holdfast/tier/conversation_export.h"
#include "holdfast/tier/conversation_import.h"

namespace holdfast::test {

namespace {

const ScopeText kScope{"model a"};

Tokens first(const Tokens& tokens, size_t count) {
  return Tokens(
      tokens.begin(),
      tokens.begin() + static_cast<long>(std::min(count, tokens.size())));
}

/// The file of a record of that name and version 1; written once.
const std::unique_ptr<ConversationReader>&
conversation(const std::string& name, const Tokens& tokens) {
  static std::map<std::string, std::unique_ptr<ConversationReader>> files;
  auto& file = files[name];
  if (!file) {
    const TierRig rig;
    const auto tier = rig.open();
    StoreBatch batch =
        chat_batch(tier->scope(kScope).value(), tokens, name, rig.images);
    batch.record->version = 1;
    batch.record->body = "body of " + name + " at 1";
    tier->store(batch).value();
    export_record(*tier, {"chat", name}, {rig.memory, "/file", 0}).value();
    file = ConversationReader::open(*rig.memory, "/file").value();
  }
  return file;
}

} // namespace

DiskTierOptions
options_of(const std::shared_ptr<FileSystem>& files, const Workload& workload) {
  DiskTierOptions options;
  options.folder = workload.folder;
  options.max_bytes = workload.max_bytes;
  options.files = files;
  options.clock = std::make_shared<ManualClock>();
  return options;
}

void Client::take_back(const Removed& removed) {
  for (const NodeId id : removed.nodes) {
    truth_.images.erase(paths_[id]);
  }
  for (const RecordName& record : removed.records) {
    truth_.chats.erase(record.name);
  }
}

void Client::turn(const std::string& name, const Tokens& tokens) {
  const auto scope = tier_.scope(kScope);
  if (!scope.ok()) {
    return;
  }
  StoreBatch batch = chat_batch(scope.value(), tokens, name, images_);
  const auto tail = tails_.find(name);
  if (tail != tails_.end()) {
    const Tokens& path = paths_[tail->second];
    for (size_t i = 0; i < batch.nodes.size(); ++i) {
      const size_t end = std::min((i + 1) * 64, tokens.size());
      if (path.size() > i * 64 && path.size() < end) {
        batch.nodes[i].supersedes = {tail->second};
      }
    }
  }
  if (published_) {
    const Truth before = truth_;
    if (tail != tails_.end()) {
      truth_.images.erase(paths_[tail->second]);
    }
    truth_.may_evict = true;
    publish();
    truth_ = before;
  }
  const auto stored = tier_.store(batch);
  if (!stored.ok()) {
    // It may have evicted before it failed.
    truth_.may_evict |= stored.status().code() != ErrorCode::kStale;
    if (tail != tails_.end()) {
      // Its tail may have gone into a node that was committed after all.
      truth_.images.erase(paths_[tail->second]);
    }
    publish();
    return;
  }
  for (size_t i = 0; i < batch.nodes.size(); ++i) {
    const Tokens path = first(tokens, (i + 1) * 64);
    paths_[stored.value().nodes[i]] = path;
    truth_.images[path] = {kFull, kSliding};
  }
  truth_.chats[name] = batch.record->version;
  tails_[name] = stored.value().nodes.back();
  take_back(stored.value().removed);
  publish();
}

void Client::end(const std::string& name) {
  truth_.chats.erase(name);
  publish();
  std::ignore = tier_.remove_record({"chat", name});
}

void Client::forget(const std::string& name, const Tokens& tokens) {
  // Tried is enough: it may be gone, whatever is answered.
  truth_.chats.erase(name);
  for (size_t end = 64; end < tokens.size() + 64; end += 64) {
    truth_.images.erase(first(tokens, end));
  }
  publish();
  std::ignore = tier_.forget({"chat", name});
}

void Client::import(const std::string& name, const Tokens& tokens) {
  const ConversationImport how{
      .scope = kScope,
      .root = {1, 2},
      .planes =
          {{{Images::bytes(kFull)}}, {{Bytes(4096), Bytes(1024), Bytes(3072)}}},
      .name = {"chat", name},
      .replace = true,
      .batch = Bytes(20000)};
  publish();
  const auto imported =
      import_conversation(tier_, *conversation(name, tokens), how);
  truth_.may_evict |= !imported.ok(); // it may have evicted before it failed
  if (imported.ok()) {
    for (size_t end = 64; end < tokens.size() + 64; end += 64) {
      truth_.images[first(tokens, end)] = {kFull, kSliding};
    }
    truth_.chats[name] = 1;
  }
  publish();
}

void Client::put_object(const std::string& key, const std::string& value) {
  const ObjectToStore object{
      .space = "encoder",
      .key = key,
      .bytes = std::as_bytes(std::span(value.data(), value.size()))};
  truth_.objects.erase(key); // either value, where this fails
  publish();
  if (const auto put = tier_.put_objects(std::span(&object, 1)); put.ok()) {
    truth_.objects[key] = value;
    take_back(put.value());
    publish();
  }
}

void Client::remove_object(const std::string& key) {
  truth_.objects.erase(key);
  publish();
  std::ignore = tier_.remove_object("encoder", key);
}

void Client::evict(Bytes bytes) {
  const bool may_evict = truth_.may_evict;
  truth_.may_evict |= published_ != nullptr;
  publish();
  truth_.may_evict = may_evict;
  const auto removed = tier_.evict(bytes);
  if (removed.ok()) {
    take_back(removed.value());
    truth_.may_evict |= removed.value().objects > 0;
  } else {
    truth_.may_evict = true;
  }
  publish();
}

void Client::read_all() {
  Offered all;
  if (!tier_.load(all).ok()) {
    return;
  }
  for (const auto& [id, node] : all.nodes) {
    for (const StoredImage& image : node.stored.images) {
      const auto mapped = tier_.map(image.extent);
      if (mapped.ok()) {
        EXPECT_EQ(text_of(mapped.value()), Images::text(node.path, image.slot));
      }
    }
  }
}

std::shared_ptr<MemoryFileSystem> start_of(const Workload& workload) {
  static const auto kOpened = [&] {
    const auto files = MemoryFileSystem::make();
    DiskTier::open(options_of(files, workload)).value();
    return files;
  }();
  return workload.from_nothing
      ? MemoryFileSystem::make()
      : kOpened->power_loss({.keep = PowerLoss::Keep::kNothing, .seed = 0});
}

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> kWorkloads = {
      {"TurnsOfTwoChats",
       true,
       Bytes(int64_t{1} << 30),
       [](Client& client) {
         client.turn("a", chat_tokens(1, 70));
         client.turn("b", chat_tokens(2, 140));
         client.turn("a", chat_tokens(1, 130));
         client.read_all();
         client.turn("a", chat_tokens(1, 200));
       }},
      {"ForksAndForgetting",
       false,
       Bytes(int64_t{1} << 30),
       [](Client& client) {
         client.turn("a", chat_tokens(0, 150));
         client.turn("b", chat_tokens(3, 200, 128));
         client.forget("a", chat_tokens(0, 150));
         // What b shares with it stays.
         client.turn("b", chat_tokens(3, 200, 128));
         client.turn("c", chat_tokens(4, 100));
       }},
      {"AnImport",
       false,
       Bytes(int64_t{1} << 30),
       [](Client& client) {
         client.turn("a", chat_tokens(1, 70));
         client.import("sent", chat_tokens(7, 250));
         client.turn("a", chat_tokens(1, 130));
       }},
      {"Objects",
       false,
       Bytes(int64_t{1} << 30),
       [](Client& client) {
         client.put_object("a", "first");
         client.put_object("b", std::string(9000, 'b'));
         client.put_object("a", "second");
         client.remove_object("b");
         client.turn("a", chat_tokens(1, 64));
       }},
      {"Evictions",
       false,
       Bytes(570 << 10),
       [](Client& client) {
         for (int chat = 0; chat < 9; ++chat) {
           client.turn(std::to_string(chat), chat_tokens(chat + 10, 70));
         }
         client.evict(Bytes(60 << 10));
       }},
  };
  return kWorkloads;
}

Truth run(
    const std::shared_ptr<FileSystem>& files,
    const Workload& workload,
    const Images& images) {
  Truth truth;
  auto tier = DiskTier::open(options_of(files, workload));
  if (!tier.ok()) {
    // As a server that is started once more.
    tier = DiskTier::open(options_of(files, workload));
  }
  if (tier.ok()) {
    Client client(*tier.value(), images, truth);
    workload.run(client);
  }
  return truth;
}

void expect_truth(
    const std::shared_ptr<FileSystem>& files,
    const Workload& workload,
    Truth truth,
    const Images& images) {
  auto opened = DiskTier::open(options_of(files, workload));
  ASSERT_TRUE(opened.ok()) << opened.status().text();
  DiskTier& tier = *opened.value();
  // Leftovers are gone, and everything counts.
  EXPECT_EQ(files->list(workload.folder + "/open").value().size(), 1u);
  EXPECT_EQ(
      segments_of(*files, workload.folder).size(),
      static_cast<size_t>(tier.stats().value().segments));
  EXPECT_LE(bytes_below(*files, workload.folder), workload.max_bytes);
  EXPECT_EQ(tier.stats().value().foreign, Bytes(0));
  // All that is offered is right, and all that must be there is offered.
  const Offered all = offered(tier);
  const bool strict = !truth.may_evict || workload.max_bytes > Bytes(1 << 20);
  for (const auto& [path, slots] : truth.images) {
    const Offered::Node* node = all.find(path);
    if (!strict && !node) {
      continue;
    }
    ASSERT_NE(node, nullptr) << path.size() << " tokens are gone";
    EXPECT_EQ(node->stored.images.size(), slots.size());
  }
  for (const auto& [name, version] : truth.chats) {
    const auto record = all.records.find({"chat", name});
    if (strict || record != all.records.end()) {
      ASSERT_NE(record, all.records.end()) << name;
      EXPECT_GE(record->second.version, version);
    }
  }
  for (const auto& [key, value] : truth.objects) {
    const auto object = tier.object("encoder", key);
    ASSERT_TRUE(object.ok()) << object.status().text();
    EXPECT_EQ(text_of(object.value()), value);
  }
  expect_consistent(tier);
  // And it goes on.
  Client client(tier, images, truth);
  client.turn("new", chat_tokens(99, 64));
  Offered after;
  EXPECT_TRUE(tier.load(after).ok());
  EXPECT_EQ(after.restorable(chat_tokens(99, 64)), 64);
}

} // namespace holdfast::test
