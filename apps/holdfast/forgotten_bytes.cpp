// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "forgotten_bytes.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "holdfast/tier/record_body.h"

namespace holdfast::app {

namespace {

constexpr size_t kRun = 32; // bytes: 8 tokens

/// The tokens of all nodes, as the manifest has them.
class TokenTexts : public TierVisitor {
 public:
  void begin() override {
    texts.clear();
    names.clear();
  }
  void scope(ScopeId, const ScopeText&) override {}
  void node(StoredNode node) override {
    texts.emplace_back(
        reinterpret_cast<const char*>(node.tokens.data()),
        node.tokens.size() * sizeof(int32_t));
  }
  void record(StoredRecord record) override {
    names.push_back(std::move(record.name));
  }

  std::vector<std::string> texts;
  std::vector<RecordName> names;
};

/// What a body says of a text. The model's name is not of it: it is kept where
/// its digest is.
void add_body(std::string bytes, std::vector<std::string>& texts) {
  const auto body = RecordBody::parse(bytes);
  if (!body.ok()) { // of another form: all of it
    texts.push_back(std::move(bytes));
    return;
  }
  for (const auto& [name, part] : body.value().parts()) {
    if (name != "model") {
      texts.push_back(part.bytes);
    }
  }
}

std::vector<std::string> texts_of(DiskTier& tier) {
  TokenTexts all;
  tier.load(all).check();
  for (const RecordName& name : all.names) {
    // A body that is damaged was dropped: there is nothing to compare with.
    if (auto bytes = tier.record_body(name); bytes.ok()) {
      add_body(std::move(bytes).value(), all.texts);
    }
  }
  return std::move(all.texts);
}

void add_runs(const std::string& text, ByteSearch& search) {
  size_t at = 0;
  for (; at + kRun <= text.size(); at += kRun) {
    search.add(text.substr(at, kRun));
  }
  if (at == text.size() || text.size() < ByteSearch::kShortest) {
    return;
  }
  search.add(text.substr(text.size() - std::min(kRun, text.size())));
}

} // namespace

ForgottenBytes::ForgottenBytes(DiskTier& tier) : texts_(texts_of(tier)) {}

ByteSearch ForgottenBytes::gone_since(DiskTier& tier) const {
  const std::vector<std::string> now = texts_of(tier);
  const std::unordered_set<std::string> there(now.begin(), now.end());
  ByteSearch gone;
  for (const std::string& text : texts_) {
    if (!there.contains(text)) {
      add_runs(text, gone);
    }
  }
  return gone.without_those_in(now);
}

} // namespace holdfast::app
