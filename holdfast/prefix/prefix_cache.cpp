// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/prefix_cache.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/prefix/map_images.h"
#include "holdfast/prefix/prefix_cache_disk.h"
#include "holdfast/prefix/tree_loader.h"

namespace holdfast {

namespace {

Bytes image_bytes(const LayerGroups& groups, ImageSlot slot) {
  const auto& phases = groups.group(slot.group).phases;
  return phases[static_cast<size_t>(slot.phase)].layout.bytes();
}

/// What of the path is whole blocks, and cuts no span.
Path whole_blocks(const Path& path) {
  if (!path.marks.empty()) {
    return path;
  }
  const size_t whole = path.tokens.size() / kBlockTokens * kBlockTokens;
  return {path.tokens.first(whole), {}};
}

/// A text without a name, all of whose state is wanted.
WantedPath path_alone(const Path& text) {
  return {
      .tokens = std::make_shared<const std::vector<int32_t>>(
          text.tokens.begin(), text.tokens.end()),
      .marks = {text.marks.begin(), text.marks.end()},
      .fresh = {},
      .state = text.length(),
      .record = {}};
}

/// Texts of the same tokens may differ in their media.
RecordKey key_of(const WantedPath& text) {
  return {.space = {}, .tokens = text.tokens, .name = encode_marks(text.marks)};
}

/// Of the budget: what texts may take whose state is gone before it was
/// written.
Bytes lost_share(Bytes ram) {
  return Bytes(ram.get() / 16);
}

} // namespace

PrefixCache::PrefixCache(State& state, PrefixCacheOptions options)
    : state_(state),
      options_(std::move(options)),
      scope_text_(state.signature(), options_.adapter, options_.tenant_salt),
      tree_(
          {.budget = options_.ram,
           .ram = options_.shared_ram,
           .clock = options_.clock}),
      scope_(tree_.open(scope_text_, state.groups().rules())),
      ram_(options_.ram.get()),
      wanted_([this](Bytes records) { tree_.set_beside(records); }) {
  if (options_.disk) {
    make_disk();
    load();
  }
  state_.set_reclaimer([this](Bytes lacking) { tree_.reclaim(lacking); });
}

PrefixCache::~PrefixCache() {
  state_.set_reclaimer(nullptr);
}

void PrefixCache::make_disk() {
  DiskTier& disk = *options_.disk;
  const auto stored =
      std::make_shared<StoredScope>(disk, ScopeText{scope_text_.text()});
  const auto planes = std::make_shared<const ImagePlanes>(state_.groups());
  auto paths =
      std::make_unique<PathStore>(tree_, disk, wanted_, scope_, stored);
  paths->set_planes(planes);
  const std::vector<Bytes> images = state_.groups().image_bytes();
  const Bytes block = std::accumulate(images.begin(), images.end(), Bytes());
  const Bytes most = options_.checkpoint_images.value_or(
      std::max(Disk::kCheckpointImages, Bytes(8 * block.get())));
  disk_ = std::make_unique<Disk>(
      options_,
      [this] { return ram(); },
      std::max(most, block),
      tree_,
      std::move(paths),
      std::make_unique<GenerationStore>(GenerationStore::Options{
          .tree = tree_,
          .disk = disk,
          .scope = scope_,
          .stored_scope = stored,
          .planes = planes,
          .tenant_salt = options_.tenant_salt,
          .most_bytes = most}));
}

void PrefixCache::load() {
  load_tree(tree_, *options_.disk).check();
}

void PrefixCache::give_up(const UsableImage& image) {
  tree_.unreadable(image);
  drop_cut(); // the others of its segment
}

// An index that has images of a cut file does not take what a row computed in
// their place; and once they are dropped it has neither.
void PrefixCache::drop_cut() {
  if (options_.disk) {
    options_.disk->drop_cut();
  }
}

std::optional<std::vector<std::vector<BlockRef>>>
PrefixCache::held(const Usable& usable) {
  std::vector<Extent> stored;
  for (const auto& group : usable.images) {
    for (const UsableImage& image : group) {
      if (!image.ram) {
        stored.push_back(*image.disk);
      }
    }
  }
  // Kept until each is mapped.
  const auto coming =
      stored.empty() ? nullptr : options_.disk->will_need(stored);
  const std::vector<Result<MappedImage>> all = stored.empty()
      ? std::vector<Result<MappedImage>>()
      : map_images(
            *options_.disk,
            stored,
            state_.options().runtime.executor->threads());
  auto next = all.begin();
  std::vector<std::vector<BlockRef>> result;
  for (const auto& group : usable.images) {
    auto& blocks = result.emplace_back();
    for (const UsableImage& image : group) {
      if (image.ram && image.ram.intact()) {
        blocks.push_back(image.ram);
        continue;
      }
      if (image.ram) {
        give_up(image);
        return std::nullopt;
      }
      const Result<MappedImage>& mapped = *next++;
      // A folder is what it is: nobody reads behind an image's end.
      if (!mapped.ok() ||
          mapped.value().size() != image_bytes(state_.groups(), image.slot)) {
        give_up(image);
        return std::nullopt;
      }
      blocks.push_back(state_.adopt_image(
          image.slot.group, image.slot.phase, mapped.value().owner()));
    }
  }
  return result;
}

void PrefixCache::read_changes() {
  const Result<bool> changed = options_.disk->changed_by_others();
  const Status read = changed.ok() && changed.value()
      ? load_tree_changes(tree_, *options_.disk)
      : changed.status();
  failed_reads_ += read.ok() ? 0 : 1;
}

void PrefixCache::touch(const Usable& usable) {
  std::vector<NodeId> stored;
  for (const auto& group : usable.images) {
    for (const UsableImage& image : group) {
      if (image.stored != NodeId(0)) {
        stored.push_back(image.stored);
      }
    }
  }
  std::ranges::sort(stored);
  const auto twice = std::ranges::unique(stored);
  stored.erase(twice.begin(), twice.end());
  if (!stored.empty()) {
    options_.disk->touch(stored, usable.length.get());
  }
}

Begun PrefixCache::begin(const Path& prompt) {
  require_path(prompt, "[PrefixCache::begin]");
  if (options_.disk) {
    drop_cut();
    read_changes();
  }
  // Each round without a row has taken an image out of the index.
  for (;;) {
    Usable usable = tree_.usable(scope_, prompt);
    const auto blocks = held(usable);
    if (!blocks) {
      continue;
    }
    const auto tokens =
        prompt.tokens.first(static_cast<size_t>(usable.length.get()));
    const RowId row = tokens.empty()
        ? state_.add_row()
        : state_.adopt(state_.assemble(tokens, usable.facts, *blocks));
    state_.keep_sealed(row, true);
    touch(usable);
    return {row, usable.length, std::move(usable.why)};
  }
}

Why PrefixCache::why(const Path& prompt) const {
  return tree_.why(scope_, prompt);
}

void PrefixCache::grew(RowId row, const Path& committed) {
  const std::vector<SealedBlock> sealed = state_.take_sealed(row);
  if (sealed.empty()) {
    return;
  }
  std::vector<GivenImage> images;
  for (const SealedBlock& block : sealed) {
    images.push_back(
        {block.index,
         {static_cast<int32_t>(block.group), static_cast<int32_t>(block.phase)},
         block.block});
  }
  drop_cut();
  tree_.insert(scope_, whole_blocks(committed), images);
}

Inserted PrefixCache::insert_row(RowId row, Path& committed) {
  drop_cut();
  try {
    const Snapshot snapshot = state_.snapshot(row, committed.tokens);
    return tree_.insert(scope_, committed, snapshot.row());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfBudget) {
      throw;
    }
  }
  committed = whole_blocks(committed); // no room for a copy of open blocks
  return tree_.insert(scope_, committed, std::span<const GivenImage>());
}

void PrefixCache::give_up_lost() {
  for (const RecordKey& lost : wanted_.give_up_lost(lost_share(ram()))) {
    disk_->durability.forget(lost);
    ++given_up_;
  }
}

void PrefixCache::put(RowId row, Path committed) {
  if (!disk_) {
    grew(row, committed);
    insert_row(row, committed);
    return;
  }
  give_up_lost();
  const bool any = !committed.tokens.empty();
  WantedPath next = path_alone(committed);
  std::optional<WantedPaths::Reserved> room;
  if (make_room(key_of(next), next)) {
    room.emplace(wanted_, key_of(next), next);
  }
  grew(row, committed);
  next.fresh = insert_row(row, committed).fresh;
  if (committed.length() < Position(std::ssize(*next.tokens))) {
    std::vector<FreshImages> fresh = std::move(next.fresh);
    next = path_alone(committed); // the full blocks alone found room
    next.fresh = std::move(fresh);
  }
  const RecordKey key = key_of(next);
  if (committed.tokens.empty()) {
    given_up_ += any;
    return;
  }
  if (!room || wanted_.bytes_with(key, next) > ram()) {
    ++given_up_;
    return;
  }
  wanted_.put(key, std::move(next));
  disk_->durability.put(key);
}

FlushReport PrefixCache::flush(const FlushOptions& options) {
  if (disk_) {
    return flush_disk(options);
  }
  FlushReport report;
  report.durable = tree_.stats().ram_images == 0 && wanted_.bytes() == Bytes();
  return report;
}

FlushReport PrefixCache::flush_disk(const FlushOptions& options) {
  const std::vector<WantedPaths::Shared> covered = wanted_.all();
  const int64_t before = disk_->listener.calls();
  FlushReport report = disk_->durability.flush(options);
  // A store may have evicted what another one had written.
  if (report.durable && disk_->listener.calls() != before) {
    report.missing =
        std::ranges::count_if(covered, [&](const WantedPaths::Shared& wanted) {
          return !disk_->store->is_kept(*wanted);
        });
    report.flushed -= report.missing;
    report.durable = report.missing == 0;
  }
  return report;
}

Continuations* PrefixCache::continuations() {
  return disk_ ? &disk_->continuations : nullptr;
}

std::shared_ptr<const RecordContent> PrefixCache::checkpoint(
    std::span<const std::vector<int32_t>> rows,
    const RecordBody& body) {
  expect(disk_ != nullptr, "[PrefixCache] expected a disk, got none");
  return disk_->generations->content(rows, body);
}

Result<RecordBody> PrefixCache::checkpoint_body(const std::string& key) {
  expect(disk_ != nullptr, "[PrefixCache] expected a disk, got none");
  return disk_->generations->body(key);
}

NodeHandle PrefixCache::end_of(const Path& text) {
  const std::span<const GivenImage> nothing_new;
  const Inserted found = tree_.insert(scope_, text, nothing_new);
  return found.kept == text.length() ? found.leaf : NodeHandle();
}

bool PrefixCache::keep(const Path& text, const InsertOptions& options) {
  if (end_of(text) == NodeHandle()) {
    return false;
  }
  tree_.insert(scope_, text, std::span<const GivenImage>(), options);
  return true;
}

std::optional<NodeHandle> PrefixCache::pin(const Path& text) {
  const NodeHandle end = end_of(text);
  return tree_.pin(end) ? std::optional(end) : std::nullopt;
}

bool PrefixCache::unpin(NodeHandle pinned) {
  return tree_.unpin(pinned);
}

Bytes PrefixCache::ram() const {
  return options_.shared_ram ? options_.shared_ram->limit() : Bytes(ram_);
}

bool PrefixCache::make_room(const RecordKey& key, const WantedPath& wanted) {
  return tree_.make_room_beside(
      std::max(wanted_.bytes_with(key, wanted) - wanted_.bytes(), Bytes()));
}

void PrefixCache::set_budget(Bytes ram) {
  expect(
      ram >= Bytes(0),
      "[PrefixCache::set_budget] expected a budget >= 0, got a negative one");
  tree_.set_budget(ram);
  ram_ = ram.get();
}

void PrefixCache::check() const {
  tree_.check();
}

TreeStats PrefixCache::stats() const {
  TreeStats stats = tree_.stats();
  stats.failed_reads = failed_reads_;
  stats.given_up = given_up_;
  return stats;
}

DurabilityStats PrefixCache::pending() const {
  return disk_ ? disk_->durability.stats() : DurabilityStats{};
}

Bytes PrefixCache::written() const {
  return disk_ ? disk_->store->written() + disk_->generations->written()
               : Bytes(0);
}

} // namespace holdfast
