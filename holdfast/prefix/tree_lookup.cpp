// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// TreeCore: what is known of a prompt, and why no more.

#include <algorithm>

#include "holdfast/prefix/tree_core.h"
#include "holdfast/prefix/usable_search.h"

namespace holdfast {

namespace {

constexpr size_t kLine = 64; // of the processor's caches

/// Begins to read what a lookup needs of it, if anything is there.
template <class T>
void fetch_soon(const T* from) {
  constexpr size_t kMost = 3 * kLine; // the leading part of a node
  const auto* at = reinterpret_cast<const char*>(from);
  for (size_t line = 0; line < std::min(sizeof(T), kMost); line += kLine) {
    __builtin_prefetch(at + line);
  }
}

} // namespace

Matched TreeCore::match(ScopeEntry& scope, const PathBlocks& blocks) const {
  Matched found{.root = scope.root, .nodes = {}, .part = {}};
  found.nodes.reserve(static_cast<size_t>(blocks.count()));
  for (int64_t block = 0; block < blocks.count(); ++block) {
    const BlockText text = blocks[block];
    const Children& children = found.last()->children;
    Node* next = text.size() == kBlockTokens ? children.find(text) : nullptr;
    if (!next) {
      found.part = children.longest(text);
      break;
    }
    found.nodes.push_back(next);
    // Behind a million blocks nothing of these is in the processor's caches:
    // they come while this block's tokens are compared.
    fetch_soon(next->children.only());
    fetch_soon(next->images.data());
  }
  return found;
}

void TreeCore::explain_end(
    Why& why,
    const Matched& found,
    const PathBlocks& blocks) {
  if (why.matched == blocks.length()) {
    why.end = Why::End::kPrompt;
    return;
  }
  const BlockText text = blocks[found.blocks()];
  const int64_t run = found.part.run;
  // Something was there that agreed further?
  for (int64_t size = text.size(); size > run && !evicted.empty(); --size) {
    const BlockText part = leading(text, size);
    if (auto gone = evicted.find(
            options.key_hash(found.last()->key, part.tokens, part.marks))) {
      why.end = Why::End::kEvicted;
      why.end_evicted = gone;
      return;
    }
  }
  const Node* other = found.part.node;
  if (!other && !found.last()->children.empty()) {
    other = found.last()->children.ordered().front();
  }
  if (!other || other->text().size() == run) {
    why.end =
        found.root->children.empty() ? Why::End::kNothing : Why::End::kStops;
    return;
  }
  why.end = Why::End::kDiffers;
  why.expected = other->tokens[static_cast<size_t>(run)];
  why.got = text.tokens[static_cast<size_t>(run)];
}

void TreeCore::explain_scopes(
    Why& why,
    ScopeEntry& scope,
    const PathBlocks& blocks) {
  // A tenant does not learn what others keep.
  const BlockText first = blocks[0];
  ScopeEntry* best = nullptr;
  int64_t run = why.matched.get();
  for (ScopeEntry& other : scopes) {
    if (&other != &scope && !other.scope.of_other_tenant(scope.scope)) {
      const int64_t known = other.root->children.longest(first).run;
      best = known > run ? &other : best;
      run = std::max(run, known);
    }
  }
  if (best) {
    why.other_matched = match(*best, blocks).length();
    why.other_scope =
        scope.scope.difference(best->scope).value_or(std::string());
  }
}

Usable TreeCore::look_up(ScopeEntry& scope, const PathBlocks& blocks) {
  const Matched found = match(scope, blocks);
  Usable result;
  result.why.asked = blocks.length();
  result.why.matched = found.length();
  UsableSearch(scope, blocks, found).run(result);
  result.why.usable = result.length;
  explain_end(result.why, found, blocks);
  const Position first(kBlockTokens);
  if (result.why.matched < std::min(blocks.length(), first)) {
    explain_scopes(result.why, scope, blocks);
  }
  return result;
}

NodeHandle TreeCore::leaf_of(const Usable& found) {
  NodeHandle leaf;
  BlockIndex last(-1);
  for (const auto& group : found.images) {
    if (!group.empty() && group.back().block > last) {
      last = group.back().block;
      leaf = group.back().node;
    }
  }
  return leaf;
}

void TreeCore::count_use(const Usable& found) {
  tick = next_tick();
  ++stats.lookups;
  stats.tokens_asked += found.why.asked.get();
  stats.tokens_from_ram += found.why.from_ram.get();
  stats.tokens_from_disk += found.why.from_disk.get();
  ++stats.ends[static_cast<size_t>(found.why.end)];
  ++stats.gaps[static_cast<size_t>(found.why.gap)];
  if (found.length == Position(0)) {
    return;
  }
  ++stats.hits;
  Node* deepest = resolve(leaf_of(found));
  for (Node* node = deepest; node; node = node->parent) {
    node->used = tick;
  }
  if (deepest) {
    touch(*deepest);
  }
}

} // namespace holdfast
