// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/conversation_import.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/block/pool.h"

namespace holdfast {

namespace {

class ImportRun {
 public:
  ImportRun(
      DiskTier& tier,
      const ConversationReader& file,
      const ConversationImport& how,
      const ConversationProgress& progress)
      : tier_(tier),
        file_(file),
        how_(how),
        progress_(progress),
        pool_(image_sizes()) {}

  /// Throws what is wrong.
  ImportedConversation run() {
    require_free();
    require_slots();
    file_.verify().check();
    const Conversation& content = file_.content();
    batch_.scope = tier_.scope(how_.scope).value();
    Key128 key = how_.root;
    for (const ConversationNode& node : content.nodes) {
      key = chained_key(key, node.tokens, node.marks);
      add(node, key);
      if (pending_ >= how_.batch && &node != &content.nodes.back()) {
        store();
      }
    }
    batch_.record = record();
    store();
    result_.tokens = content.record.length;
    return result_;
  }

 private:
  const std::vector<Bytes>* planes_of(ImageSlot slot) const {
    const auto group = static_cast<size_t>(slot.group);
    const auto phase = static_cast<size_t>(slot.phase);
    return group < how_.planes.size() && phase < how_.planes[group].size()
        ? &how_.planes[group][phase]
        : nullptr;
  }
  static Bytes sum_of(const std::vector<Bytes>& planes) {
    return std::accumulate(planes.begin(), planes.end(), Bytes());
  }
  /// [kind] the sizes, each once.
  std::vector<Bytes> image_sizes() {
    for (const auto& phases : how_.planes) {
      for (const auto& planes : phases) {
        sizes_.push_back(sum_of(planes));
      }
    }
    std::ranges::sort(sizes_);
    sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
    return sizes_;
  }

  void require_free() {
    const auto there = tier_.record(how_.name);
    if (there.ok() && !how_.replace) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[import] expected a name that is free, got " + how_.name.space +
              "/" + how_.name.name);
    }
    if (!there.ok() && there.status().code() != ErrorCode::kNotFound) {
      there.status().check();
    }
  }

  void require_slots() {
    for (const ConversationNode& node : file_.content().nodes) {
      for (const ConversationImage& image : node.images) {
        const auto* planes = planes_of(image.slot);
        if (!planes || sum_of(*planes) != image.piece.bytes) {
          throw Error(
              ErrorCode::kCorrupt,
              "[import] expected images as the signature says, got one of " +
                  std::to_string(image.piece.bytes.get()) +
                  " bytes in layer group " + std::to_string(image.slot.group) +
                  ", phase " + std::to_string(image.slot.phase));
        }
        result_.image_bytes += image.piece.bytes;
        ++result_.images;
      }
    }
  }

  BlockRef block_of(const ConversationImage& image) {
    const std::vector<std::byte> bytes = file_.read(image.piece).value();
    const auto kind =
        std::ranges::lower_bound(sizes_, image.piece.bytes) - sizes_.begin();
    BlockRef block = pool_.allocate(kind);
    std::memcpy(block.mutable_image(), bytes.data(), bytes.size());
    block.seal();
    return block;
  }

  void add(const ConversationNode& from, const Key128& key) {
    NodeToStore& node = batch_.nodes.emplace_back();
    node.parent_in_batch = std::ssize(batch_.nodes) - 2;
    node.parent = batch_.nodes.size() == 1 ? leaf_ : NodeId();
    node.key = key;
    node.tokens = from.tokens;
    node.marks = from.marks;
    node.cost = from.cost;
    for (const ConversationImage& image : from.images) {
      node.images.push_back(
          {image.slot, block_of(image), *planes_of(image.slot)});
      pending_ += image.piece.bytes;
      done_ += image.piece.bytes;
      if (progress_) {
        progress_(done_, result_.image_bytes);
      }
    }
  }

  RecordToStore record() {
    RecordToStore record;
    record.space = how_.name.space;
    record.name = how_.name.name;
    record.leaf_in_batch = std::ssize(batch_.nodes) - 1;
    record.leaf = leaf_;
    record.length = file_.content().record.length;
    record.body = file_.body().value();
    return record;
  }

  void store() {
    const Stored stored = tier_.store(batch_).value();
    if (!stored.nodes.empty()) {
      leaf_ = stored.nodes.back();
    }
    result_.written += stored.written;
    batch_.nodes.clear();
    pending_ = Bytes();
  }

  DiskTier& tier_;
  const ConversationReader& file_;
  const ConversationImport& how_;
  const ConversationProgress& progress_;
  std::vector<Bytes> sizes_; // [kind]
  BlockPool pool_;
  StoreBatch batch_;
  NodeId leaf_; // of what is stored
  Bytes pending_; // in the batch
  Bytes done_;
  ImportedConversation result_;
};

} // namespace

Result<ImportedConversation> import_conversation(
    DiskTier& tier,
    const ConversationReader& file,
    const ConversationImport& how,
    const ConversationProgress& progress) {
  try {
    return ImportRun(tier, file, how, progress).run();
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
