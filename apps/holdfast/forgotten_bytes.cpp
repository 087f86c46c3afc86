// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "forgotten_bytes.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "holdfast/block/layout.h"

namespace holdfast::app {

namespace {

constexpr size_t kRun = 32; // bytes: 8 tokens

/// The tokens of all nodes, as the manifest has them.
class TokenTexts : public TierVisitor {
 public:
  void begin() override {
    texts.clear();
  }
  void scope(ScopeId, const ScopeText&) override {}
  void node(StoredNode node) override {
    texts.emplace_back(
        reinterpret_cast<const char*>(node.tokens.data()),
        node.tokens.size() * sizeof(int32_t));
  }
  void record(StoredRecord) override {}

  std::vector<std::string> texts;
};

std::vector<std::string> blocks_of(DiskTier& tier) {
  TokenTexts all;
  tier.load(all).check();
  return std::move(all.texts);
}

/// A text as nodes hold it.
void add_blocks(
    const std::vector<int32_t>& tokens,
    std::unordered_set<std::string>& blocks) {
  for (size_t at = 0; at < tokens.size(); at += kBlockTokens) {
    const size_t count = std::min<size_t>(kBlockTokens, tokens.size() - at);
    blocks.emplace(
        reinterpret_cast<const char*>(tokens.data() + at),
        count * sizeof(int32_t));
  }
}

std::vector<std::string> pieces(const std::vector<RecordTexts>& all) {
  std::unordered_set<std::string> found;
  for (const RecordTexts& texts : all) {
    for (const auto& tokens : texts.longest) {
      add_blocks(tokens, found);
    }
    found.insert(texts.bytes.begin(), texts.bytes.end());
  }
  return {found.begin(), found.end()};
}

/// Of all records.
std::vector<std::string> named(DiskTier& tier) {
  std::vector<RecordTexts> all;
  const auto records = tier.records();
  for (const StoredRecord& record : records.value()) {
    if (auto texts = texts_of(tier, record.name); texts.ok()) {
      all.push_back(std::move(texts).value());
    }
  }
  return pieces(all);
}

/// Little but zeros, as small numbers of a body are and erased pages, says
/// nothing of a text: it is found anywhere.
void add(const std::string& run, ByteSearch& search) {
  constexpr int64_t kFewest = 6;
  if (std::ssize(run) - std::ranges::count(run, '\0') >= kFewest) {
    search.add(run);
  }
}

void add_runs(const std::string& text, ByteSearch& search) {
  size_t at = 0;
  for (; at + kRun <= text.size(); at += kRun) {
    add(text.substr(at, kRun), search);
  }
  if (at == text.size() || text.size() < ByteSearch::kShortest) {
    return;
  }
  add(text.substr(text.size() - std::min(kRun, text.size())), search);
}

} // namespace

ForgottenBytes::ForgottenBytes(
    DiskTier& tier,
    const std::vector<RecordTexts>& going)
    : blocks_(blocks_of(tier)), going_(pieces(going)) {}

ByteSearch ForgottenBytes::gone_since(DiskTier& tier) const {
  const std::vector<std::string> now = blocks_of(tier);
  const std::unordered_set<std::string> there(now.begin(), now.end());
  ByteSearch gone;
  for (const std::string& block : blocks_) {
    if (!there.contains(block)) {
      add_runs(block, gone);
    }
  }
  for (const std::string& text : going_) {
    add_runs(text, gone);
  }
  return gone.without_those_in(named(tier));
}

} // namespace holdfast::app
