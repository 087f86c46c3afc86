// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/conversation_export.h"

#include <utility>

#include "holdfast/block/layout.h"

namespace holdfast {

namespace {

/// Takes what is not the record's off its last node.
void cut(std::vector<StoredNode>& path, Position length) {
  if (path.empty() || !path.back().marks.empty()) {
    return;
  }
  StoredNode& last = path.back();
  const int64_t own = length.get() - (std::ssize(path) - 1) * kBlockTokens;
  if (own < std::ssize(last.tokens)) {
    last.tokens.resize(static_cast<size_t>(own));
    last.images.clear();
  }
}

class RecordExport {
 public:
  RecordExport(DiskTier& tier, const ConversationProgress& progress)
      : tier_(tier), progress_(progress) {}

  /// Of one version: what the record says is of one moment, and its leaf's path
  /// never changes. Throws what the disk says.
  ExportedConversation
  run(const RecordName& name, ConversationWriterOptions to) {
    const RecordText text = tier_.record_text(name).value();
    const StoredRecord& record = text.record;
    met_ = {record.version, record.leaf};
    std::vector<StoredNode> path = tier_.path(record.leaf).value();
    cut(path, record.length);
    for (const StoredNode& node : path) {
      for (const StoredImage& image : node.images) {
        result_.image_bytes += image.extent.bytes;
      }
    }
    const auto writer = ConversationWriter::create(std::move(to)).value();
    writer->add_body(text.body).check();
    for (const StoredNode& node : path) {
      writer->add_node(
          {.tokens = node.tokens,
           .marks = node.marks,
           .cost = node.cost,
           .images = {}});
      add_images(*writer, node);
    }
    result_.tokens = record.length;
    result_.file_bytes = writer
                             ->finish(
                                 {text.scope},
                                 {.space = name.space,
                                  .name = name.name,
                                  .version = record.version,
                                  .length = record.length,
                                  .body = {}})
                             .value();
    return result_;
  }
  /// Whether the record is another one by now.
  bool was_replaced(const RecordName& name) const {
    const Result<StoredRecord> now = tier_.record(name);
    return now.ok() && met_ != std::pair(now.value().version, now.value().leaf);
  }

 private:
  void add_images(ConversationWriter& writer, const StoredNode& node) {
    for (const StoredImage& image : node.images) { // by slot
      const MappedImage mapped = tier_.map(image.extent).value();
      writer.add_image(image.slot, mapped.bytes()).check();
      require_whole(mapped.intact());
      ++result_.images;
      done_ += image.extent.bytes;
      if (progress_) {
        progress_(done_, result_.image_bytes);
      }
    }
  }

  DiskTier& tier_;
  const ConversationProgress& progress_;
  ExportedConversation result_;
  Bytes done_;
  std::pair<uint64_t, NodeId> met_; // version, leaf
};

} // namespace

void require_whole(bool intact) {
  if (!intact) {
    throw Error(
        ErrorCode::kCorrupt,
        "[export] expected images that stay as they are, got one of a file "
        "that was cut short while it was mapped");
  }
}

Result<ExportedConversation> export_record(
    DiskTier& tier,
    const RecordName& name,
    const ConversationWriterOptions& to,
    const ConversationProgress& progress) {
  for (int tries = 4;; --tries) {
    RecordExport attempt(tier, progress);
    try {
      return attempt.run(name, to);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kInvalidArgument) {
        throw; // the caller's mistake
      }
      // What took its place may have taken that of some of its nodes.
      if (error.code() != ErrorCode::kNotFound || tries == 1 ||
          !attempt.was_replaced(name)) {
        return Status(error.code(), error.what());
      }
    }
  }
}

} // namespace holdfast
