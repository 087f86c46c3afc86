// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/conversation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "holdfast/plan/blank_tail.h"

namespace holdfast {

namespace {

/// The first field in which they differ, of those that decide what bits mean.
std::optional<std::string>
difference_in_meaning(const Signature& a, const Signature& b) {
  const auto meaning = [](const Signature& signature) {
    std::vector<Signature::Field> fields = signature.fields();
    std::erase_if(
        fields, [](const auto& f) { return decides_bits_alone(f.name); });
    return Signature(std::move(fields));
  };
  return meaning(a).difference(meaning(b));
}

Status refusal(const std::string& difference) {
  return Status(
      ErrorCode::kUnsupported,
      "[import] expected state of the running model's signature, got another "
      "one: " +
          difference);
}

std::vector<std::vector<std::vector<Bytes>>>
planes_of(const LayerGroups& groups) {
  std::vector<std::vector<std::vector<Bytes>>> result;
  for (const LayerGroup& group : groups.groups()) {
    auto& phases = result.emplace_back();
    for (const GroupPhase& phase : group.phases) {
      phases.push_back(phase.layout.plane_strides());
    }
  }
  return result;
}

/// The images of a usable prefix, block by block.
class PrefixExport {
 public:
  PrefixExport(const PrefixSource& source, const Usable& usable)
      : source_(source), length_(usable.length) {
    for (const auto& group : usable.images) {
      for (const UsableImage& image : group) {
        const auto block = static_cast<size_t>(image.block.get());
        images_.resize(std::max(images_.size(), block + 1));
        images_[block].push_back(&image); // groups rise, so slots do
      }
    }
  }

  ExportedConversation run(const Path& prefix, ConversationWriterOptions to) {
    const auto writer = ConversationWriter::create(std::move(to)).value();
    const PathBlocks blocks(prefix);
    for (int64_t i = 0; i < blocks.count(); ++i) {
      const BlockText text = blocks[i];
      writer->add_node(
          {.tokens = {text.tokens.begin(), text.tokens.end()},
           .marks = std::string(text.marks),
           .cost = 0,
           .images = {}});
      if (i < std::ssize(images_)) {
        for (const UsableImage* image : images_[static_cast<size_t>(i)]) {
          add(*writer, *image);
        }
      }
    }
    result_.tokens = prefix.length();
    result_.file_bytes = writer
                             ->finish(
                                 {source_.scope.text()},
                                 {.space = {},
                                  .name = {},
                                  .version = 0,
                                  .length = prefix.length(),
                                  .body = {}})
                             .value();
    return result_;
  }

 private:
  void add(ConversationWriter& writer, const UsableImage& image) {
    MappedImage mapped;
    std::span<const std::byte> bytes;
    if (image.ram) {
      bytes = {image.ram.image(), static_cast<size_t>(image.ram.bytes().get())};
    } else {
      mapped = source_.disk->map(*image.disk).value();
      bytes = mapped.bytes();
    }
    std::vector<std::byte> own;
    if (length_ < Position((image.block.get() + 1) * kBlockTokens)) {
      own.assign(bytes.begin(), bytes.end());
      blank_tail(
          source_.groups.group(image.slot.group),
          {.group = image.slot.group,
           .phase = image.slot.phase,
           .image = own.data(),
           .committed = length_});
      bytes = own;
    }
    writer.add_image(image.slot, bytes).check();
    if (image.ram && !image.ram.intact()) {
      source_.tree.unreadable(image);
      if (source_.disk) {
        source_.disk->drop_cut(); // the others of its segment
      }
    }
    require_whole(image.ram ? image.ram.intact() : mapped.intact());
    ++result_.images;
    result_.image_bytes += Bytes(std::ssize(bytes));
  }

  const PrefixSource& source_;
  const Position length_;
  std::vector<std::vector<const UsableImage*>> images_; // [block]
  ExportedConversation result_;
};

} // namespace

Result<Admitted>
admit(const ConversationReader& file, const Scope& running, bool foreign_bits) {
  Result<Scope> parsed = Scope::parse(file.content().scope.text);
  if (!parsed.ok()) {
    return parsed.status();
  }
  const Scope& theirs = parsed.value();
  const auto difference = running.difference(theirs);
  if (!difference) {
    return Admitted{running, {}};
  }
  if (const auto meaning =
          difference_in_meaning(running.signature(), theirs.signature())) {
    return refusal(*meaning);
  }
  // Tenant and adapter alike: only bits may differ.
  if (const auto who = running.with(theirs.signature()).difference(theirs)) {
    return refusal(*who);
  }
  if (!foreign_bits) {
    return refusal(
        *difference + "; its bits may be kept apart as foreign ones");
  }
  const auto before = holdfast::foreign_bits(theirs.signature());
  ForeignBits foreign{
      .origin = file.digest().hex(),
      .least = before ? before->least : Position(0)};
  return Admitted{
      running.with(with_foreign_bits(running.signature(), foreign)), foreign};
}

Result<ImportResult> import_conversation(
    DiskTier& tier,
    const ConversationReader& file,
    const Scope& running,
    const LayerGroups& groups,
    const ImportRequest& request,
    const ConversationProgress& progress) {
  Result<Admitted> admission = admit(file, running, request.foreign_bits);
  if (!admission.ok()) {
    return admission.status();
  }
  for (const ConversationNode& node : file.content().nodes) {
    if (!are_block_marks(node.marks, std::ssize(node.tokens))) {
      return Status(
          ErrorCode::kCorrupt,
          "[import] expected marks of a block's tokens, got other bytes");
    }
  }
  const Scope& scope = admission.value().scope;
  auto imported = import_conversation(
      tier,
      file,
      {.scope = {scope.text()},
       .root = scope.root(),
       .planes = planes_of(groups),
       .name = request.name,
       .replace = request.replace},
      progress);
  if (!imported.ok()) {
    return imported.status();
  }
  return ImportResult{imported.value(), std::move(admission).value()};
}

Result<ExportedConversation> export_prefix(
    const PrefixSource& source,
    const Path& text,
    ConversationWriterOptions to) {
  require_path(text, "[export]");
  const Usable usable = source.tree.usable_whole(source.handle, text);
  if (usable.length == Position(0)) {
    return Status(
        ErrorCode::kNotFound,
        "[export] expected a text of which something is known, got none: " +
            usable.why.line());
  }
  std::vector<TokenMark> marks;
  std::ranges::copy_if(
      text.marks, std::back_inserter(marks), [&](const TokenMark& mark) {
        return mark.begin < usable.length;
      });
  const auto length = static_cast<size_t>(usable.length.get());
  try {
    return PrefixExport(source, usable)
        .run({text.tokens.first(length), marks}, std::move(to));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInvalidArgument) {
      throw; // the caller's mistake
    }
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
