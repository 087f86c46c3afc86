// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Conversations' files and a running model: out, what a row of a text needs;
// in, what was computed under an equal signature, or apart from everything else
// what was computed elsewhere (docs/conversation.md). Calls block; any thread.

#pragma once

#include <optional>
#include <string>

#include "holdfast/plan/group.h"
#include "holdfast/prefix/prefix_tree.h"
#include "holdfast/prefix/scope.h"
#include "holdfast/state/foreign_bits.h"
#include "holdfast/tier/conversation_export.h"
#include "holdfast/tier/conversation_import.h"
#include "holdfast/tier/conversation_reader.h"
#include "holdfast/tier/disk_tier.h"

namespace holdfast {

/// What a file's state is here.
struct Admitted {
  Scope scope; // what it is to be stored under
  std::optional<ForeignBits> foreign; // none: its bits are a cold run's
};

/// kUnsupported, naming the field, where the file's state means something else
/// than the running model's; and where only its bits may differ, unless
/// `foreign_bits`. kCorrupt where its scope is none.
Result<Admitted>
admit(const ConversationReader& file, const Scope& running, bool foreign_bits);

struct ImportRequest {
  RecordName name;
  bool foreign_bits = false;
  bool replace = false; // a record of that name
};

struct ImportResult {
  ImportedConversation imported;
  Admitted admission;
};

/// As admit() and then the tier's import_conversation(): the images have the
/// sizes of `groups`, those of the running model's state.
Result<ImportResult> import_conversation(
    DiskTier& tier,
    const ConversationReader& file,
    const Scope& running,
    const LayerGroups& groups,
    const ImportRequest& request,
    const ConversationProgress& progress = nullptr);

/// The longest prefix of the text, all of it if it is known, from which a row
/// goes on: exactly the images that such a row holds, and of the last block,
/// which may be a longer text's, the prefix's own positions alone. kNotFound
/// where nothing is usable; what export_record() says else.
struct PrefixSource {
  PrefixTree& tree;
  DiskTier* disk = nullptr; // null: RAM alone
  ScopeHandle handle;
  const Scope& scope;
  const LayerGroups& groups; // of the state
};
Result<ExportedConversation> export_prefix(
    const PrefixSource& source,
    const Path& text,
    ConversationWriterOptions to);

} // namespace holdfast
