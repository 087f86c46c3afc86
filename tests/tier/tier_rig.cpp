// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "tests/tier/tier_rig.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <gtest/gtest.h>

#include "holdfast/base/key_hash.h"
#include "holdfast/block/layout.h"

namespace holdfast::test {

namespace {

uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

Key128 key_of_path(const Tokens& path) {
  return key_of(std::as_bytes(std::span(path)));
}

} // namespace

Tokens chat_tokens(int chat, int64_t count, int64_t fork) {
  Tokens tokens;
  for (int64_t i = 0; i < count; ++i) {
    const int owner = i < fork ? 0 : chat;
    tokens.push_back(static_cast<int32_t>(
        mixed(static_cast<uint64_t>(owner * 1000003 + i)) % 250000));
  }
  return tokens;
}

std::string text_of(const MappedImage& image) {
  const auto bytes = image.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Images::Images() : pool_({Bytes(4096), Bytes(8192)}) {}

Bytes Images::bytes(ImageSlot slot) {
  return Bytes(slot.group == 0 ? 4096 : 8192);
}

std::string Images::text(const Tokens& path, ImageSlot slot) {
  std::string text(static_cast<size_t>(bytes(slot).get()), '\0');
  uint64_t state = key_of_path(path).low +
      static_cast<uint64_t>(slot.group * 7 + slot.phase);
  for (size_t i = 0; i < text.size(); i += 8) {
    state = mixed(state + 1);
    std::memcpy(text.data() + i, &state, 8);
  }
  return text;
}

ImageToStore Images::image(const Tokens& path, ImageSlot slot) const {
  const BlockRef block = pool_.allocate(slot.group);
  const std::string bytes = text(path, slot);
  std::memcpy(block.mutable_image(), bytes.data(), bytes.size());
  block.seal();
  std::vector<Bytes> planes;
  if (slot.group == 1) {
    planes = {Bytes(4096), Bytes(1024), Bytes(3072)};
  }
  return {slot, block, planes};
}

StoreBatch
path_batch(ScopeId scope, const Tokens& tokens, const Images& images) {
  StoreBatch batch;
  batch.scope = scope;
  for (size_t begin = 0; begin < tokens.size(); begin += kBlockTokens) {
    const size_t end = std::min(begin + kBlockTokens, tokens.size());
    const Tokens path(tokens.begin(), tokens.begin() + static_cast<long>(end));
    NodeToStore node;
    node.parent_in_batch = static_cast<int64_t>(batch.nodes.size()) - 1;
    node.key = key_of_path(path);
    node.tokens.assign(path.begin() + static_cast<long>(begin), path.end());
    node.images = {images.image(path, kFull), images.image(path, kSliding)};
    batch.nodes.push_back(std::move(node));
  }
  return batch;
}

StoreBatch chat_batch(
    ScopeId scope,
    const Tokens& tokens,
    const std::string& name,
    const Images& images) {
  StoreBatch batch = path_batch(scope, tokens, images);
  RecordToStore record;
  record.space = "chat";
  record.name = name;
  record.version = tokens.size();
  record.leaf_in_batch = static_cast<int64_t>(batch.nodes.size()) - 1;
  record.length = Position(static_cast<int64_t>(tokens.size()));
  record.body = "body of " + name + " at " + std::to_string(tokens.size());
  batch.record = std::move(record);
  return batch;
}

void Offered::begin() {
  nodes.clear();
  scopes.clear();
  records.clear();
}

void Offered::scope(ScopeId id, const ScopeText& text) {
  scopes[id] = text.text;
}

void Offered::node(StoredNode node) {
  Node entry;
  if (node.parent != NodeId()) {
    const auto parent = nodes.find(node.parent);
    ASSERT_NE(parent, nodes.end()) << "a node came before its parent";
    entry.path = parent->second.path;
  }
  entry.path.insert(entry.path.end(), node.tokens.begin(), node.tokens.end());
  const NodeId id = node.id;
  entry.stored = std::move(node);
  nodes[id] = std::move(entry);
}

void Offered::record(StoredRecord record) {
  records[record.name] = std::move(record);
}

const Offered::Node* Offered::find(const Tokens& path) const {
  const auto found = std::ranges::find_if(
      nodes, [&](const auto& entry) { return entry.second.path == path; });
  return found == nodes.end() ? nullptr : &found->second;
}

int64_t Offered::restorable(const Tokens& tokens) const {
  int64_t length = 0;
  while (length < std::ssize(tokens)) {
    const int64_t end =
        std::min<int64_t>(length + kBlockTokens, std::ssize(tokens));
    const Node* node = find(Tokens(tokens.begin(), tokens.begin() + end));
    if (!node || node->stored.images.size() != 2) {
      break;
    }
    length = end;
  }
  return length;
}

Offered offered(DiskTier& tier) {
  Offered all;
  const Status loaded = tier.load(all);
  EXPECT_TRUE(loaded.ok()) << loaded.text();
  for (const auto& [id, node] : all.nodes) {
    for (const StoredImage& image : node.stored.images) {
      const auto mapped = tier.map(image.extent);
      EXPECT_TRUE(mapped.ok()) << mapped.status().text();
      if (mapped.ok()) {
        EXPECT_EQ(text_of(mapped.value()), Images::text(node.path, image.slot));
      }
    }
  }
  for (const auto& [name, record] : all.records) {
    EXPECT_TRUE(all.nodes.contains(record.leaf));
    const auto body = tier.record_body(name);
    if (record.body_lost) {
      EXPECT_EQ(body.status().code(), ErrorCode::kCorrupt);
      continue;
    }
    EXPECT_TRUE(body.ok()) << body.status().text();
    if (body.ok()) {
      EXPECT_EQ(
          body.value(),
          "body of " + name.name + " at " + std::to_string(record.version));
    }
  }
  return all;
}

TierRig::TierRig() {
  options.folder = "/state";
  options.files = memory;
  options.clock = clock;
}

std::unique_ptr<DiskTier> TierRig::open() const {
  return std::move(DiskTier::open(options)).value();
}

Bytes TierRig::folder_bytes() const {
  return bytes_below(*options.files, options.folder);
}

std::vector<std::string> TierRig::names(const std::string& below) const {
  return names_in(*options.files, options.folder + below);
}

std::vector<std::string> names_in(FileSystem& files, const std::string& path) {
  return std::move(files.list(path)).value();
}

Bytes bytes_below(FileSystem& files, const std::string& path) {
  Bytes sum;
  for (const std::string& name : names_in(files, path)) {
    const FileFacts facts = files.facts(path + "/" + name).value();
    sum += facts.kind == FileFacts::Kind::kFolder
        ? bytes_below(files, path + "/" + name)
        : facts.allocated;
  }
  return sum;
}

std::vector<std::string>
segments_of(FileSystem& files, const std::string& path) {
  std::vector<std::string> segments;
  for (const std::string& name : names_in(files, path)) {
    if (name.ends_with(".segment")) {
      segments.push_back(path + "/" + name);
    }
  }
  return segments;
}

void flip(FileSystem& files, const std::string& path, int64_t offset) {
  const auto file = files.open(path, FileSystem::Access::kReadWrite).value();
  std::byte one[1];
  file->read(Bytes(offset), one).check();
  one[0] ^= std::byte{0x40};
  file->write(Bytes(offset), one).check();
}

void expect_consistent(DiskTier& tier) {
  const auto verified = tier.verify();
  ASSERT_TRUE(verified.ok()) << verified.status().text();
  for (const std::string& fault : verified.value().faults) {
    ADD_FAILURE() << fault;
  }
  const auto stats = tier.stats();
  ASSERT_TRUE(stats.ok()) << stats.status().text();
  EXPECT_LE(stats.value().used, stats.value().max_bytes);
}

} // namespace holdfast::test
