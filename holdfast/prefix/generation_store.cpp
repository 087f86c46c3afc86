// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/generation_store.h"

#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/base/sha256.h"
#include "holdfast/block/layout.h"
#include "holdfast/prefix/prefix_cache.h"

namespace holdfast {

namespace {

std::string tenant_of(std::string_view salt) {
  return salt.empty() ? std::string() : sha256(salt).hex() + "/";
}

/// The tier's folder has a place for them.
std::string claims_folder(const DiskTier& disk) {
  return disk.options().folder + "/claims";
}

} // namespace

/// A body and the images that go with it.
class GenerationStore::Content : public RecordContent {
 public:
  Content(PrefixTree& tree, WriteBatch batch, std::string body)
      : tree_(tree), batch_(std::move(batch)), body_(std::move(body)) {
    bytes_ = Bytes(std::ssize(body_));
    for (const NodeToStore& node : batch_.nodes) {
      for (const ImageToStore& image : node.images) {
        bytes_ += image.block.bytes();
      }
    }
  }
  ~Content() override {
    if (!stored_) {
      tree_.not_stored(batch_); // the next one finds them fresh
    }
  }
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  Bytes bytes() const override {
    return bytes_;
  }
  const std::vector<NodeToStore>& nodes() const {
    return batch_.nodes;
  }
  const std::string& body() const {
    return body_;
  }
  void set_stored(const Stored& stored) const {
    tree_.stored(batch_, stored);
    stored_ = true;
  }

 private:
  PrefixTree& tree_;
  const WriteBatch batch_;
  const std::string body_;
  Bytes bytes_;
  mutable bool stored_ = false; // one store is at work on it at a time
};

GenerationStore::GenerationStore(const Options& options)
    : tree_(options.tree),
      disk_(options.disk),
      scope_(options.scope),
      stored_scope_(options.stored_scope),
      planes_(options.planes),
      tenant_(tenant_of(options.tenant_salt)),
      most_bytes_(options.most_bytes),
      claims_(options.disk.options().files, claims_folder(options.disk)) {}

RecordName GenerationStore::name(const std::string& key) const {
  expect(
      !key.empty() && key.size() <= kMaxGenerationKey,
      "[generation] expected a key of 1 to 1024 bytes, got another length");
  return {std::string(kGenerationSpace), tenant_ + key};
}

std::shared_ptr<const RecordContent> GenerationStore::content(
    std::span<const std::vector<int32_t>> paths,
    const RecordBody& body) {
  std::vector<FreshImages> fresh;
  for (const std::vector<int32_t>& path : paths) {
    const size_t full = path.size() / kBlockTokens * kBlockTokens;
    if (full == 0) {
      continue;
    }
    Inserted known = tree_.insert(
        scope_, {std::span(path).first(full)}, std::span<const GivenImage>());
    fresh.insert(
        fresh.end(),
        std::make_move_iterator(known.fresh.begin()),
        std::make_move_iterator(known.fresh.end()));
  }
  WriteBatch batch = tree_.begin_write(within_limit(std::move(fresh)));
  planes_->fill(batch.nodes);
  return std::make_shared<Content>(tree_, std::move(batch), body.encode());
}

std::vector<FreshImages>
GenerationStore::within_limit(std::vector<FreshImages> fresh) const {
  Bytes sum;
  for (size_t i = 0; i < fresh.size(); ++i) {
    for (const ImageSlot slot : fresh[i].slots) {
      sum += planes_->image_bytes(slot);
    }
    if (sum > most_bytes_) {
      fresh.resize(i);
    }
  }
  return fresh;
}

Result<RecordBody> GenerationStore::body(const std::string& key) {
  const Result<RecordText> found = disk_.record_text(name(key));
  return found.ok() ? RecordBody::parse(found.value().body)
                    : Result<RecordBody>(found.status());
}

Result<Stored>
GenerationStore::store(RecordToStore record, std::vector<NodeToStore> nodes) {
  Result<Stored> stored = disk_.store(
      {.scope = stored_scope_,
       .nodes = std::move(nodes),
       .record = std::move(record)});
  if (stored.ok()) {
    written_ += stored.value().written.get();
  }
  return stored;
}

Status GenerationStore::write(
    const std::string& key,
    CheckpointVersion,
    const Checkpoint& checkpoint) {
  const auto& content = static_cast<const Content&>(*checkpoint.content);
  const RecordName named = name(key);
  RecordToStore record; // at the root: it stands for no node
  record.version = 0; // who has the claim writes the newest
  record.space = named.space;
  record.name = named.name;
  record.body = content.body();
  Result<Stored> stored = store(record, content.nodes());
  if (stored.ok()) {
    content.set_stored(stored.value());
    return {};
  }
  // Nodes that these build on were evicted by another process, or there is no
  // room for state: the text goes on without.
  const ErrorCode code = stored.status().code();
  if (content.nodes().empty() ||
      (code != ErrorCode::kNotFound && code != ErrorCode::kOutOfBudget)) {
    return stored.status();
  }
  stored = store(std::move(record), {});
  if (stored.ok()) {
    tree_.removed(stored.value().removed.nodes);
  }
  return stored.status();
}

Status GenerationStore::remove(const std::string& key) {
  const Result<Removed> removed = disk_.remove_record(name(key));
  if (removed.ok()) {
    tree_.removed(removed.value().nodes);
  }
  return removed.status();
}

Result<std::shared_ptr<void>> GenerationStore::claim(const std::string& key) {
  return claims_.claim(name(key).name);
}

} // namespace holdfast
