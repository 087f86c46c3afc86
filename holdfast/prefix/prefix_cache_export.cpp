// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/conversation.h"
#include "holdfast/prefix/prefix_cache.h"

namespace holdfast {

Result<ExportedConversation>
PrefixCache::export_prefix(const Path& text, ConversationWriterOptions to) {
  return holdfast::export_prefix(
      {.tree = tree_,
       .disk = options_.disk.get(),
       .handle = scope_,
       .scope = scope_text_,
       .groups = state_.groups()},
      text,
      std::move(to));
}

} // namespace holdfast
