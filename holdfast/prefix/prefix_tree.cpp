// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/prefix_tree.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/env/mapping_guard.h"
#include "holdfast/prefix/tree_core.h"
#include "holdfast/prefix/tree_share.h"

namespace holdfast {

namespace {

constexpr int32_t kMostPriority = 8;

/// A path and a token behind it that stands for no text: a lookup leaves its
/// last token to compute.
class PathWithOneMore {
 public:
  PathWithOneMore(const Path& path, const char* where)
      : tokens_(with_one_more(path, where)), blocks_({tokens_, path.marks}) {}
  const PathBlocks& blocks() const {
    return blocks_;
  }

 private:
  static std::vector<int32_t>
  with_one_more(const Path& path, const char* where) {
    require_path(path, where);
    std::vector<int32_t> tokens(path.tokens.begin(), path.tokens.end());
    tokens.push_back(std::numeric_limits<int32_t>::min());
    return tokens;
  }

  const std::vector<int32_t> tokens_;
  const PathBlocks blocks_;
};

void require_images(
    const ScopeEntry& scope,
    const PathBlocks& blocks,
    std::span<const GivenImage> images) {
  for (const GivenImage& given : images) {
    const auto group = static_cast<size_t>(given.slot.group);
    const bool fits = given.slot.group >= 0 && group < scope.rules.size() &&
        given.slot.phase >= 0 &&
        given.slot.phase < scope.rules[group].phases() &&
        given.block >= BlockIndex(0) && given.block.get() < blocks.count() &&
        given.image && given.image.sealed();
    expect(
        fits,
        "[prefix.insert] expected sealed images of the scope's layer groups "
        "and phases within the path, got others");
  }
}

void require_rules(
    const ScopeEntry& scope,
    const std::vector<GroupRule>& rules,
    const char* text) {
  // How much is kept to go back to decides nothing here.
  const auto same = [](const GroupRule& a, const GroupRule& b) {
    return a.goes_on_under(b);
  };
  expect(std::ranges::equal(scope.rules, rules, same), text);
}

/// A block says by its image kind (one a group and phase, in order) in which
/// phase it is: of a row whose conversion was interrupted some are in the next.
std::vector<GivenImage> images_of(const CapturedRow& row) {
  std::vector<GivenImage> images;
  int64_t first_kind = 0;
  for (size_t group = 0; group < row.blocks.size(); ++group) {
    for (size_t block = 0; block < row.blocks[group].size(); ++block) {
      if (const BlockRef& image = row.blocks[group][block]) {
        const ImageSlot slot{
            static_cast<int32_t>(group),
            static_cast<int32_t>(image.kind() - first_kind)};
        images.push_back(
            {BlockIndex(static_cast<int64_t>(block)), slot, image});
      }
    }
    first_kind += row.rules[group].phases();
  }
  return images;
}

} // namespace

NodeLease::NodeLease(std::shared_ptr<TreeCore> tree, NodeHandle node)
    : tree_(std::move(tree)), node_(node) {}

NodeLease::NodeLease(NodeLease&& other) noexcept
    : tree_(std::move(other.tree_)), node_(other.node_) {}

NodeLease& NodeLease::operator=(NodeLease other) noexcept {
  std::swap(tree_, other.tree_);
  std::swap(node_, other.node_);
  return *this;
}

NodeLease::~NodeLease() {
  if (!tree_) {
    return;
  }
  const TreeLock locked(*tree_);
  if (Node* node = tree_->resolve(node_)) { // leased nodes stay
    TreeCore::add_to_path(node, &Node::leases, -1);
    tree_->prune(node, EvictedBy::kNobody);
  }
}

PrefixTree::PrefixTree(TreeOptions options)
    : core_(std::make_shared<TreeCore>(std::move(options))) {
  if (core_->options.ram) {
    core_->options.budget = Bytes(0);
    share_ = std::make_unique<TreeShare>(*core_);
  }
}

PrefixTree::~PrefixTree() = default;

ScopeHandle
PrefixTree::open(const Scope& scope, const std::vector<GroupRule>& rules) {
  const Needs needs(rules);
  (void)Chain(rules, kBlockTokens); // refuses what no chain has
  ask([] { return TreeCore::record_bytes({}, 0); });
  const TreeLock locked(*core_);
  const ScopeHandle handle = core_->add_scope(scope);
  ScopeEntry& entry = core_->scope(handle);
  if (entry.needs) {
    require_rules(
        entry,
        rules,
        "[prefix.open] expected the rules that the scope was opened with, got "
        "others");
    return handle;
  }
  entry.rules = rules;
  entry.needs = needs;
  return handle;
}

Result<ScopeHandle> PrefixTree::open_stored(std::string_view scope_text) {
  Result<Scope> scope = Scope::parse(scope_text);
  if (!scope.ok()) {
    return scope.status();
  }
  ask([] { return TreeCore::record_bytes({}, 0); });
  const TreeLock locked(*core_);
  return core_->add_scope(scope.value());
}

Inserted PrefixTree::insert(
    ScopeHandle scope,
    const Path& path,
    std::span<const GivenImage> images,
    const InsertOptions& options) {
  require_path(path, "[prefix.insert]");
  expect(
      std::abs(options.priority.value_or(0)) <= kMostPriority,
      "[prefix.insert] expected a priority from -8 to 8, got another");
  const PathBlocks blocks(path);
  std::vector<GivenImage> ordered(images.begin(), images.end());
  if (mapping_was_cut()) { // nobody would look at them again
    std::erase_if(
        ordered, [](const GivenImage& each) { return !each.image.intact(); });
  }
  std::ranges::stable_sort(ordered, {}, &GivenImage::block);
  const auto given = [&] {
    ScopeEntry& entry = core_->scope(scope);
    require_images(entry, blocks, ordered);
    return TreeCore::NewPath{
        .scope = entry,
        .blocks = blocks,
        .images = ordered,
        .options = options};
  };
  ask([&] { return core_->wanted_bytes(given()); });
  const TreeLock locked(*core_);
  return core_->insert(given());
}

Inserted PrefixTree::insert(
    ScopeHandle scope,
    const Path& path,
    const CapturedRow& row,
    const InsertOptions& options) {
  require_path(path, "[prefix.insert]");
  expect(
      row.chain.committed() == path.length(),
      "[prefix.insert] expected a token a committed position, got another "
      "number");
  expect(
      std::ranges::equal(row.chain.spans(), spans_of(path)),
      "[prefix.insert] expected the row's bidirectional spans among the "
      "path's marks, got others");
  {
    const TreeLock locked(*core_);
    require_rules(
        core_->scope(scope),
        row.rules,
        "[prefix.insert] expected a row of the scope's rules, got one of "
        "others");
  }
  return insert(scope, path, images_of(row), options);
}

Usable PrefixTree::usable(ScopeHandle scope, const Path& prompt) {
  require_path(prompt, "[prefix.usable]");
  return usable_of(scope, PathBlocks(prompt));
}

Usable PrefixTree::usable_whole(ScopeHandle scope, const Path& text) {
  return usable_of(
      scope, PathWithOneMore(text, "[prefix.usable_whole]").blocks());
}

Usable PrefixTree::usable_of(ScopeHandle scope, const PathBlocks& blocks) {
  const TreeLock locked(*core_);
  core_->expire();
  Usable found = core_->look_up(core_->scope(scope), blocks);
  core_->count_use(found);
  if (Node* node = core_->resolve(TreeCore::leaf_of(found))) {
    TreeCore::add_to_path(node, &Node::leases, 1);
    found.lease = NodeLease(core_, TreeCore::handle(*node));
  }
  return found;
}

Why PrefixTree::why(ScopeHandle scope, const Path& prompt) const {
  require_path(prompt, "[prefix.why]");
  const PathBlocks blocks(prompt);
  const TreeLock locked(*core_);
  return core_->look_up(core_->scope(scope), blocks).why;
}

Position PrefixTree::known(ScopeHandle scope, const Path& text) const {
  const PathWithOneMore asked(text, "[prefix.known]");
  const TreeLock locked(*core_);
  return core_->look_up(core_->scope(scope), asked.blocks()).length;
}

Result<bool> PrefixTree::add_stored(ScopeHandle scope, const StoredNode& node) {
  ask([&] {
    return TreeCore::record_bytes(
        {node.tokens, node.marks}, node.images.size());
  });
  const TreeLock locked(*core_);
  return core_->add_stored(core_->scope(scope), node);
}

WriteBatch PrefixTree::begin_write(std::span<const FreshImages> images) {
  const TreeLock locked(*core_);
  return core_->begin_write(images);
}

RecordWrite PrefixTree::begin_record(
    ScopeHandle scope,
    const Path& path,
    std::span<const FreshImages> images) {
  const PathWithOneMore asked(path, "[prefix.begin_record]");
  const TreeLock locked(*core_);
  return core_->begin_record(core_->scope(scope), asked.blocks(), images);
}

std::optional<std::vector<NamedImage>>
PrefixTree::stored_images(ScopeHandle scope, const Path& path) const {
  const PathWithOneMore asked(path, "[prefix.stored_images]");
  const TreeLock locked(*core_);
  return core_->stored_images(core_->scope(scope), asked.blocks());
}

void PrefixTree::stored(const WriteBatch& batch, const Stored& stored) {
  const TreeLock locked(*core_);
  core_->stored(batch, stored);
}

std::vector<FreshImages> PrefixTree::not_stored(const WriteBatch& batch) {
  const TreeLock locked(*core_);
  return core_->not_stored(batch);
}

std::vector<NodeId> PrefixTree::stored_nodes() const {
  const TreeLock locked(*core_);
  return core_->stored_nodes();
}

void PrefixTree::removed(std::span<const NodeId> nodes) {
  const TreeLock locked(*core_);
  for (const NodeId id : nodes) {
    core_->remove_stored(id);
  }
}

void PrefixTree::lost(const Lost& lost) {
  const TreeLock locked(*core_);
  core_->lose_stored(lost);
}

void PrefixTree::unreadable(const UsableImage& image) {
  const TreeLock locked(*core_);
  Node* node = core_->resolve(image.node);
  Image* of = node ? node->find(image.slot) : nullptr;
  if (!of) {
    return;
  }
  const bool in_ram = image.ram && of->ram && of->ram->block == image.ram;
  const bool on_disk = of->on_disk() && (in_ram || of->disk == image.disk);
  if (in_ram) { // mapped: what it was mapped from is no better
    core_->detach(*node, *of);
  }
  if (on_disk) {
    core_->set_unreadable(*node, *of);
  }
  if (in_ram || on_disk) {
    core_->prune(node, EvictedBy::kDisk);
  }
}

bool PrefixTree::pin(NodeHandle handle) {
  const TreeLock locked(*core_);
  Node* node = core_->resolve(handle);
  TreeCore::add_to_path(node, &Node::pins, 1);
  return node != nullptr;
}

bool PrefixTree::unpin(NodeHandle handle) {
  const TreeLock locked(*core_);
  Node* node = core_->resolve(handle);
  if (node) {
    expect(
        node->pins > TreeCore::pins_below(*node),
        "[prefix.unpin] expected a node that is pinned, got one that is not");
    TreeCore::add_to_path(node, &Node::pins, -1);
  }
  return node != nullptr;
}

NodeLease PrefixTree::lease(NodeHandle handle) {
  const TreeLock locked(*core_);
  Node* node = core_->resolve(handle);
  if (!node) {
    return {};
  }
  TreeCore::add_to_path(node, &Node::leases, 1);
  return {core_, handle};
}

int64_t PrefixTree::forget(ScopeHandle scope, const Path& path) {
  require_path(path, "[prefix.forget]");
  const PathBlocks blocks(path);
  const TreeLock locked(*core_);
  return core_->forget(core_->scope(scope), blocks);
}

TreeStats PrefixTree::stats() const {
  const TreeLock locked(*core_);
  return core_->stats;
}

void PrefixTree::check() const {
  const TreeLock locked(*core_);
  core_->check();
}

} // namespace holdfast
