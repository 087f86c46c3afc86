// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/measure/lookup_index.h"

#include <algorithm>
#include <random>
#include <string>

#include "holdfast/base/check.h"
#include "holdfast/base/root_key.h"
#include "holdfast/block/layout.h"
#include "holdfast/measure/seconds.h"

namespace holdfast::measure {

namespace {

constexpr int64_t kSharing = 16; // chats with one first block
constexpr int64_t kPrompts = 256; // of a turn
constexpr int32_t kVocabulary = 100000;
constexpr size_t kCoolBytes = size_t{64} << 20; // more than a core's caches
constexpr int32_t kUnknown = kVocabulary; // of no chat

void add_random(std::vector<int32_t>& tokens, int64_t seed, int64_t count) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<int32_t>(random() % kVocabulary));
  }
}

StoredImage image(int32_t group, int64_t id) {
  return {{group, 0}, {SegmentId(1), Bytes(id * 8192), Bytes(4096)}};
}

Scope measured() {
  return Scope(Signature(std::vector<Signature::Field>{{"model", "measured"}}));
}

} // namespace

LookupIndex::LookupIndex(
    const LookupShape& shape,
    const std::function<void(int64_t, int64_t)>& progress)
    : tree_({.budget = Bytes(int64_t{1} << 50)}),
      scope_(tree_.open(measured(), {GroupRule{}, GroupRule{.window = 512}})),
      chats_(std::max<int64_t>(1, shape.blocks / shape.chat_blocks)),
      chat_blocks_(shape.chat_blocks),
      other_(kCoolBytes / sizeof(uint64_t)) {
  int64_t id = 0;
  int64_t shared = 0; // the node of the first block
  for (int64_t chat = 0; chat < chats_; ++chat) {
    progress(chat * chat_blocks_, chats_ * chat_blocks_);
    const std::vector<int32_t> all = tokens(chat);
    NodeId parent;
    Key128 key = root_key(measured().text());
    for (int64_t block = 0; block < chat_blocks_; ++block) {
      const bool known = block == 0 && chat % kSharing != 0;
      const auto begin = all.begin() + block * kBlockTokens;
      StoredNode node;
      node.id = NodeId(known ? shared : ++id);
      node.scope = ScopeId(1);
      node.parent = parent;
      node.tokens.assign(begin, begin + kBlockTokens);
      key = chained_key(key, node.tokens);
      node.key = key;
      node.images = {image(0, 2 * id), image(1, 2 * id + 1)};
      ensure(
          tree_.add_stored(scope_, node).value(),
          "[LookupIndex] expected room for every block, got none");
      parent = node.id;
      shared = block == 0 ? parent.get() : shared;
    }
  }
}

std::vector<int32_t> LookupIndex::tokens(int64_t chat) const {
  std::vector<int32_t> result;
  result.reserve(static_cast<size_t>(chat_blocks_ * kBlockTokens + 1));
  add_random(result, -1 - chat / kSharing, kBlockTokens);
  add_random(result, chat, (chat_blocks_ - 1) * kBlockTokens);
  result.push_back(kUnknown);
  return result;
}

void LookupIndex::cool() {
  for (uint64_t& word : other_) {
    ++word;
  }
}

LookupTrial::LookupTrial(LookupIndex& index, int64_t matched, End end)
    : index_(index), expected_(matched * kBlockTokens) {
  expect(
      matched >= 0 && matched <= index.chat_blocks() &&
          (end == End::kPrompt || matched < index.chat_blocks()),
      "[LookupTrial] expected at most the blocks of a chat to agree, got more");
  // Where the next block parts from the chat; its leading part is of use too.
  const int64_t part = end == End::kDiffers && matched > 0 ? 20 : 0;
  expected_ += Position(part);
  const auto at = static_cast<size_t>(expected_.get());
  const int64_t prompts = std::min(kPrompts, index.chats());
  const int64_t step = std::max<int64_t>(1, index.chats() / prompts);
  for (int64_t i = 0; i < prompts; ++i) {
    auto& prompt = prompts_.emplace_back(index.tokens(i * step));
    prompt[at] = kUnknown;
    if (end == End::kPrompt) {
      prompt.resize(at + 1);
    }
  }
}

void LookupTrial::turn() {
  index_.cool();
  for (const std::vector<int32_t>& prompt : prompts_) {
    const double begun = seconds();
    const Usable found = index_.look_up(prompt);
    seconds_.push_back(seconds() - begun);
    if (found.length != expected_) {
      throw Error(
          ErrorCode::kInternal,
          "[LookupTrial] expected " + std::to_string(expected_.get()) +
              " tokens to be known, got " + std::to_string(found.length.get()));
    }
  }
}

double LookupTrial::quantile(double part) const {
  if (seconds_.empty()) {
    return 0;
  }
  const auto at = seconds_.begin() +
      static_cast<int64_t>(part * static_cast<double>(seconds_.size() - 1));
  std::nth_element(seconds_.begin(), at, seconds_.end());
  return *at;
}

} // namespace holdfast::measure
