// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/generation_store.h"

#include <tuple>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/base/sha256.h"
#include "holdfast/block/layout.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/prefix/tree_loader.h"
#include "holdfast/tier/record_claims.h"

namespace holdfast {

namespace {

constexpr std::string_view kTenants = "tenant/";
constexpr std::string_view kNobodys = "key/";

/// Of a record: no key of nobody's is spelled like a tenant's.
std::string spelled(const std::string& tenant, const std::string& key) {
  if (!tenant.empty()) {
    return std::string(kTenants) + tenant + "/" + key;
  }
  return key.starts_with(kTenants) || key.starts_with(kNobodys)
      ? std::string(kNobodys) + key
      : key;
}

} // namespace

/// A body and the images that go with it.
class GenerationStore::Content : public RecordContent {
 public:
  Content(GenerationStore& store, Paths paths, std::string body)
      : store_(store), paths_(std::move(paths)), body_(std::move(body)) {
    std::tie(batch_, left_) = store_.batch_of(paths_);
    bytes_ = Bytes(std::ssize(body_));
    for (const std::vector<int32_t>& path : paths_) {
      bytes_ += Bytes(static_cast<int64_t>(path.size() * sizeof(int32_t)));
    }
    for (const NodeToStore& node : batch_.nodes) {
      for (const ImageToStore& image : node.images) {
        bytes_ += image.block.bytes();
      }
    }
  }
  ~Content() override {
    if (!stored_) {
      store_.tree_.not_stored(batch_); // the next one finds them fresh
    }
  }
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  Bytes bytes() const override {
    return bytes_;
  }
  int64_t left() const override {
    return left_;
  }
  const std::vector<NodeToStore>& nodes() const {
    return batch_.nodes;
  }
  const std::string& body() const {
    return body_;
  }
  void set_stored(const Stored& stored) const {
    store_.tree_.stored(batch_, stored);
    stored_ = true;
  }
  /// Looks again at what only RAM has.
  void renew() const {
    store_.tree_.not_stored(std::exchange(batch_, {}));
    batch_ = store_.batch_of(paths_).first;
  }

 private:
  GenerationStore& store_;
  const Paths paths_;
  const std::string body_;
  mutable WriteBatch batch_; // of the one store
  int64_t left_ = 0;
  Bytes bytes_;
  mutable bool stored_ = false; // one store is at work on it at a time
};

GenerationStore::GenerationStore(const Options& options)
    : tree_(options.tree),
      disk_(options.disk),
      scope_(options.scope),
      stored_scope_(options.stored_scope),
      planes_(options.planes),
      tenant_(
          options.tenant_salt.empty() ? "" : sha256(options.tenant_salt).hex()),
      most_bytes_(options.most_bytes),
      claims_(options.disk.claims()) {}

RecordName GenerationStore::name(const std::string& key) const {
  expect(
      !key.empty() && key.size() <= kMaxGenerationKey,
      "[generation] expected a key of 1 to 1024 bytes, got another length");
  return {std::string(kGenerationSpace), spelled(tenant_, key)};
}

std::shared_ptr<const RecordContent> GenerationStore::content(
    std::span<const std::vector<int32_t>> paths,
    const RecordBody& body) {
  Paths full;
  for (const std::vector<int32_t>& path : paths) {
    const auto end = std::ssize(path) / kBlockTokens * kBlockTokens;
    if (end > 0) {
      full.emplace_back(path.begin(), path.begin() + end);
    }
  }
  return std::make_shared<Content>(*this, std::move(full), body.encode());
}

std::pair<WriteBatch, int64_t> GenerationStore::batch_of(const Paths& paths) {
  std::vector<FreshImages> fresh;
  for (const std::vector<int32_t>& path : paths) {
    Inserted known =
        tree_.insert(scope_, {path}, std::span<const GivenImage>());
    fresh.insert(
        fresh.end(),
        std::make_move_iterator(known.fresh.begin()),
        std::make_move_iterator(known.fresh.end()));
  }
  const size_t now = within_limit(fresh);
  const auto left = static_cast<int64_t>(fresh.size() - now);
  fresh.resize(now);
  WriteBatch batch = tree_.begin_write(fresh);
  planes_->fill(batch.nodes);
  return {std::move(batch), left};
}

// Parents come first; the first one in any case, or a model of large blocks
// would never have one kept.
size_t
GenerationStore::within_limit(const std::vector<FreshImages>& fresh) const {
  Bytes sum;
  for (size_t i = 0; i < fresh.size(); ++i) {
    for (const ImageSlot slot : fresh[i].slots) {
      sum += planes_->image_bytes(slot);
    }
    if (sum > most_bytes_ && i > 0) {
      return i;
    }
  }
  return fresh.size();
}

Result<RecordBody> GenerationStore::body(const std::string& key) {
  const Result<RecordText> found = disk_.record_text(name(key));
  return found.ok() ? RecordBody::parse(found.value().body)
                    : Result<RecordBody>(found.status());
}

Status GenerationStore::store(
    RecordToStore record,
    std::vector<NodeToStore> nodes,
    const std::function<void(const Stored&)>& committed) {
  const Result<Stored> stored = disk_.store(
      {.scope = stored_scope_->id(),
       .nodes = std::move(nodes),
       .record = std::move(record)},
      committed);
  if (stored.ok()) {
    written_ += stored.value().written.get();
  }
  return stored.status();
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
  const auto keep = [&](const Stored& stored) { content.set_stored(stored); };
  Status stored = store(record, content.nodes(), keep);
  if (stored.code() == ErrorCode::kNotFound) {
    // Nodes that these build on were evicted by another process, or all went
    // with a manifest that was set aside: what RAM has of them goes along.
    if (Status status = stored_scope_->renew(); !status.ok()) {
      return status;
    }
    if (Status status = load_tree(tree_, disk_); !status.ok()) {
      return status;
    }
    content.renew();
    stored = store(record, content.nodes(), keep);
  }
  // Not even RAM has these, or there is no room for state: the text goes on
  // without.
  const bool without = stored.code() == ErrorCode::kNotFound ||
      stored.code() == ErrorCode::kOutOfBudget;
  return without && !content.nodes().empty() ? store(std::move(record), {}, {})
                                             : stored;
}

Status GenerationStore::remove(const std::string& key) {
  return disk_.remove_record(name(key)).status();
}

Result<std::shared_ptr<void>> GenerationStore::claim(const std::string& key) {
  return claims_.claim(record_claim(name(key)));
}

} // namespace holdfast
