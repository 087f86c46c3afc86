// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of generations in a disk tier whose calls fail: the former one
// stays until a newer one is there, and what was completed is not offered.

#include "holdfast/prefix/generation_store.h"

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/base/sha256.h"
#include "holdfast/env/faulty_file_system.h"
#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/prefix/tree_loader.h"
#include "holdfast/tier/continuations.h"
#include "tests/code_of.h"
#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;

constexpr int64_t kTokens = 400;

std::vector<int32_t> counted(int64_t tokens) {
  std::vector<int32_t> result(static_cast<size_t>(tokens));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

struct RigChoice {
  Bytes max_bytes{int64_t{1} << 30}; // of the disk
  Bytes most_bytes{int64_t{1} << 25}; // of a checkpoint's images
  std::string tenant = {};
};

/// Its stream's thread stays until the program ends, so there is one for all.
State& shared_state() {
  static State state(options());
  return state;
}

/// The checkpoint that a process which opens the folder finds.
std::string stored_body(DiskTier& disk, const std::string& key = "k") {
  const auto found = disk.record_text({"generation", "key/" + key});
  return found.ok()
      ? RecordBody::parse(found.value().body).value().find("b")->bytes
      : name(found.status().code());
}

std::unique_ptr<DiskTier> open_disk(const std::shared_ptr<FileSystem>& files) {
  return DiskTier::open({.folder = "/state",
                         .files = files,
                         .clock = std::make_shared<ManualClock>()})
      .value();
}

/// A process with one row; its queue has no writers, so the calls of a flush
/// come in one order.
class Rig {
 public:
  explicit Rig(const std::shared_ptr<FileSystem>& files, RigChoice choice = {})
      : state_(shared_state()),
        disk_(DiskTier::open({.folder = "/state",
                              .max_bytes = choice.max_bytes,
                              .files = files,
                              .clock = clock_})
                  .value()),
        scope_text_(state_.signature()),
        scope_(tree_.open(scope_text_, state_.groups().rules())),
        store_(
            {.tree = tree_,
             .disk = *disk_,
             .scope = scope_,
             .stored_scope = disk_->scope({scope_text_.text()}).value(),
             .planes = std::make_shared<const ImagePlanes>(state_.groups()),
             .tenant_salt = choice.tenant,
             .most_bytes = choice.most_bytes}),
        queue_({.clock = clock_, .writers = 0}),
        continuations_(queue_, store_, clock_),
        row_(state_.add_row()) {
    state_.keep_sealed(row_, true);
  }
  ~Rig() {
    state_.remove_row(row_);
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  /// Computes the row up to that length.
  void grow(int64_t length) {
    const int64_t from = state_.length(row_).get();
    append_to(state_, row_, {&vectors_, from, length - from});
    std::vector<GivenImage> images;
    for (const SealedBlock& block : state_.take_sealed(row_)) {
      images.push_back(
          {block.index,
           {static_cast<int32_t>(block.group),
            static_cast<int32_t>(block.phase)},
           block.block});
    }
    const auto tokens = counted(length / kBlockTokens * kBlockTokens);
    if (!tokens.empty()) {
      tree_.insert(scope_, {tokens}, images);
    }
  }
  Continuation begin(const std::string& key = "k") {
    return continuations_.begin(key).value();
  }
  /// Queues a checkpoint of the row.
  Enqueued save(Continuation& attempt, const std::string& body) {
    const std::vector<std::vector<int32_t>> paths{
        counted(state_.length(row_).get())};
    return attempt.checkpoint(
        {.content = store_.content(paths, RecordBody().set("b", {1, body})),
         .tokens = state_.length(row_),
         .generated = Position(1)});
  }
  std::string body(const std::string& key = "k") {
    const auto found = store_.body(key);
    return found.ok() ? found.value().find("b")->bytes
                      : name(found.status().code());
  }
  ContinuationReport flush() {
    return continuations_.flush();
  }
  Continuations& continuations() {
    return continuations_;
  }
  DiskTier& disk() {
    return *disk_;
  }
  /// Into segments.
  Bytes written() const {
    return store_.written();
  }
  /// Of the row's tokens, those that a lookup finds.
  Position usable() {
    auto tokens = counted(state_.length(row_).get());
    tokens.push_back(-1);
    return tree_.why(scope_, {tokens}).usable;
  }
  /// Of the text's first tokens, those that the disk knows.
  Position usable_of(int64_t tokens) {
    load_tree(tree_, *disk_).check();
    return tree_.known(scope_, {counted(tokens)});
  }
  const PrefixTree& tree() const {
    return tree_;
  }

 private:
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  const Sequence vectors_{kTokens, 3};
  State& state_;
  std::unique_ptr<DiskTier> disk_;
  const Scope scope_text_;
  PrefixTree tree_;
  const ScopeHandle scope_;
  GenerationStore store_;
  SpillQueue queue_;
  Continuations continuations_;
  const RowId row_;
};

TEST(GenerationStore, KeepsOneCheckpointAKeyAndReplacesIt) {
  const auto files = MemoryFileSystem::make();
  Rig rig(files);
  auto attempt = rig.begin();
  EXPECT_EQ(rig.body(), "not found");
  rig.grow(130);
  rig.save(attempt, "one");
  rig.grow(200);
  rig.save(attempt, "two");
  auto other = rig.begin("another");
  rig.save(other, "other");
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.body(), "two");
  EXPECT_EQ(rig.body("another"), "other");
  EXPECT_EQ(rig.disk().records("generation").value().size(), 2u);
  // Also after a power loss, by a process that knows nothing.
  const auto later = open_disk(files->power_loss({}));
  EXPECT_EQ(stored_body(*later), "two");
  EXPECT_EQ(later->stats().value().nodes, 3);
}

TEST(GenerationStore, WritesEachBlockOnce) {
  Rig rig(MemoryFileSystem::make());
  auto attempt = rig.begin();
  const int64_t block = shared_state().groups().image_bytes()[0].get() +
      shared_state().groups().image_bytes()[1].get();
  const auto step = [&](int64_t length) {
    const Bytes before = rig.written();
    rig.grow(length);
    rig.save(attempt, std::string(1000, 'b'));
    EXPECT_TRUE(rig.flush().durable);
    return (rig.written() - before).get();
  };
  EXPECT_GT(step(128), 2 * block);
  const int64_t nothing = step(150); // no block more
  EXPECT_LT(nothing, block);
  const int64_t one = step(192);
  EXPECT_GT(one, block);
  EXPECT_LT(one, block + nothing + 8192);
}

// The former is untouched, for this process and for one after a power loss.
TEST(GenerationStore, AWriteThatFailsAtAnyCallKeepsTheFormerCheckpoint) {
  bool failed = true;
  for (int64_t call = 0; failed; ++call) {
    SCOPED_TRACE(call);
    const auto memory = MemoryFileSystem::make();
    const auto faulty = std::make_shared<FaultyFileSystem>(memory);
    Rig rig(faulty);
    auto attempt = rig.begin();
    rig.grow(130);
    rig.save(attempt, "one");
    ASSERT_TRUE(rig.flush().durable);
    rig.grow(200);
    rig.save(attempt, "two");
    faulty->fail({.after = call});
    const ContinuationReport report = rig.flush();
    failed = faulty->failed() > 0;
    faulty->heal();
    EXPECT_TRUE(report.durable || failed);
    EXPECT_EQ(report.failed_attempts, report.durable ? 0 : 1);
    const std::string now = rig.body();
    EXPECT_TRUE(now == "two" || (!report.durable && now == "one")) << now;
    const auto later = open_disk(memory->power_loss({}));
    const std::string found = stored_body(*later);
    EXPECT_TRUE(found == "two" || (!report.durable && found == "one")) << found;
    // The next one is written as though nothing had happened.
    rig.save(attempt, "three");
    EXPECT_TRUE(rig.flush().durable);
    EXPECT_EQ(rig.body(), "three");
    rig.tree().check();
  }
}

TEST(GenerationStore, ADeathAtAnyCallLeavesTheFormerOrTheNewCheckpoint) {
  bool died = true;
  for (int64_t call = 0; died; ++call) {
    SCOPED_TRACE(call);
    const auto memory = MemoryFileSystem::make();
    const auto faulty = std::make_shared<FaultyFileSystem>(memory);
    std::optional<Rig> rig(faulty);
    {
      auto attempt = rig->begin();
      rig->grow(130);
      rig->save(attempt, "one");
      ASSERT_TRUE(rig->flush().durable);
      rig->grow(200);
      rig->save(attempt, "two");
      faulty->fail({.kind = FileFault::Kind::kPowerLoss, .after = call});
      const bool durable = rig->flush().durable;
      died = faulty->failed() > 0;
      EXPECT_TRUE(durable || died);
    }
    rig.reset();
    using Keep = PowerLoss::Keep;
    for (const Keep keep :
         {Keep::kNothing,
          Keep::kEverything,
          Keep::kSome,
          Keep::kTornPrefix,
          Keep::kTornSectors}) {
      const auto later = open_disk(memory->power_loss(
          {.keep = keep, .seed = static_cast<uint64_t>(call)}));
      const std::string found = stored_body(*later);
      EXPECT_TRUE(found == "two" || found == "one") << found;
      EXPECT_TRUE(later->verify().value().faults.empty());
    }
  }
}

TEST(GenerationStore, ACompletedKeyIsNotOfferedUntilItsRemovalSucceeded) {
  const auto faulty =
      std::make_shared<FaultyFileSystem>(MemoryFileSystem::make());
  Rig rig(faulty);
  auto attempt = rig.begin();
  rig.grow(130);
  rig.save(attempt, "one");
  ASSERT_TRUE(rig.flush().durable);
  attempt.complete();
  EXPECT_FALSE(rig.continuations().can_restore("k")); // pending
  faulty->fail({.once = false});
  const ContinuationReport failed = rig.flush();
  EXPECT_FALSE(failed.durable);
  EXPECT_EQ(failed.failed_cleanups, 1);
  EXPECT_FALSE(rig.continuations().can_restore("k"));
  faulty->heal();
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_TRUE(rig.continuations().can_restore("k"));
  EXPECT_EQ(rig.body(), "not found");
  EXPECT_EQ(rig.usable(), Position(128)); // the text's state is as any other's
  EXPECT_EQ(rig.continuations().stats().keys, 0);
}

TEST(GenerationStore, ASupersededAttemptWritesNothingMore) {
  Rig rig(MemoryFileSystem::make());
  auto first = rig.begin();
  rig.grow(130);
  rig.save(first, "one");
  ASSERT_TRUE(rig.flush().durable);
  auto second = rig.begin();
  EXPECT_EQ(rig.save(first, "late"), Enqueued::kDeclined);
  first.complete();
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.body(), "one");
  rig.save(second, "two");
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.body(), "two");
}

TEST(GenerationStore, WithoutRoomForStateTheTextIsKept) {
  Rig rig(MemoryFileSystem::make(), {.max_bytes = Bytes(550000)});
  auto attempt = rig.begin();
  rig.grow(kTokens);
  rig.save(attempt, "one");
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.body(), "one");
  EXPECT_EQ(rig.usable(), Position(384)); // it is in RAM
  rig.tree().check();
}

TEST(GenerationStore, StateThatIsEvictedTakesNoCheckpointWithIt) {
  const auto files = MemoryFileSystem::make();
  Rig rig(files);
  auto attempt = rig.begin();
  rig.grow(200);
  rig.save(attempt, "one");
  ASSERT_TRUE(rig.flush().durable);
  Rig other(files); // another process, of which this one does not hear
  ASSERT_TRUE(other.disk().evict(Bytes(int64_t{1} << 40)).ok());
  EXPECT_EQ(other.disk().stats().value().nodes, 0);
  EXPECT_EQ(rig.body(), "one");
  // It builds on blocks that are gone: RAM has them, and they go along.
  rig.grow(260);
  rig.save(attempt, "two");
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.body(), "two");
  EXPECT_EQ(rig.disk().stats().value().nodes, 4);
  EXPECT_EQ(Rig(files).usable_of(256), Position(256));
  rig.tree().check();
  rig.save(attempt, "three"); // and the next one writes its body alone
  EXPECT_TRUE(rig.flush().durable);
  EXPECT_EQ(rig.disk().stats().value().nodes, 4);
}

// What a store evicted and then failed is known to be gone.
TEST(GenerationStore, AStoreThatEvictsAndFailsLeavesNothingThatIsNotThere) {
  bool failed = true;
  int64_t evicted = 0;
  for (int64_t call = 0; failed; ++call) {
    SCOPED_TRACE(call);
    const auto faulty =
        std::make_shared<FaultyFileSystem>(MemoryFileSystem::make());
    Rig rig(faulty, {.max_bytes = Bytes(1 << 20)});
    rig.grow(kTokens);
    for (const char* key : {"a", "b"}) { // fills the disk with bodies too
      auto attempt = rig.begin(key);
      rig.save(attempt, std::string(150000, 'x'));
      ASSERT_TRUE(rig.flush().durable);
    }
    auto attempt = rig.begin();
    rig.save(attempt, std::string(300000, 'y'));
    faulty->fail({.after = call});
    std::ignore = rig.flush();
    failed = faulty->failed() > 0;
    faulty->heal();
    std::vector<NodeId> known = rig.tree().stored_nodes();
    for (const NodeId id : known) {
      EXPECT_TRUE(rig.disk().path(id).ok()) << "a node that is gone";
    }
    evicted += failed && std::ssize(known) < kTokens / kBlockTokens;
    rig.tree().check();
  }
  EXPECT_GT(evicted, 0);
}

TEST(
    GenerationStore,
    ACheckpointHoldsABoundedShareOfBlocksAndLaterOnesTheRest) {
  const auto sizes = shared_state().groups().image_bytes();
  const Bytes block = sizes[0] + sizes[1];
  const auto files = MemoryFileSystem::make();
  Rig rig(files, {.most_bytes = block + block});
  auto attempt = rig.begin();
  rig.grow(kTokens); // 6 full blocks
  for (const int64_t nodes : {2, 4, 6, 6}) {
    rig.save(attempt, "body");
    ASSERT_TRUE(rig.flush().durable);
    EXPECT_EQ(rig.disk().stats().value().nodes, nodes);
  }
}

TEST(GenerationStore, TenantsHaveKeysOfTheirOwn) {
  const auto files = MemoryFileSystem::make();
  Rig one(files, {.tenant = "one"});
  Rig two(files, {.tenant = "two"});
  one.grow(10);
  two.grow(10);
  auto first = one.begin();
  one.save(first, "mine");
  ASSERT_TRUE(one.flush().durable);
  EXPECT_EQ(two.body(), "not found");
  auto second = two.begin(); // and is not refused
  two.save(second, "theirs");
  ASSERT_TRUE(two.flush().durable);
  EXPECT_EQ(one.body(), "mine");
  EXPECT_EQ(two.body(), "theirs");
}

// Whatever a key without a tenant is spelled like.
TEST(GenerationStore, NoKeyOfNobodysNamesATenantsRecord) {
  const auto files = MemoryFileSystem::make();
  Rig tenant(files, {.tenant = "one"});
  tenant.grow(10);
  auto attempt = tenant.begin();
  tenant.save(attempt, "theirs");
  ASSERT_TRUE(tenant.flush().durable);
  Rig nobody(files);
  const std::string salt = sha256("one").hex();
  const std::vector<std::string> keys{
      salt + "/k", "tenant/" + salt + "/k", "key/k", "k"};
  for (const std::string& key : keys) {
    EXPECT_EQ(nobody.body(key), "not found") << key;
    auto mine = nobody.begin(key); // and is not refused
    mine.complete();
  }
  EXPECT_TRUE(nobody.flush().durable);
  EXPECT_EQ(tenant.body(), "theirs");
}

TEST(GenerationStore, RefusesAKeyOfAnotherProcessAndOnesOutOfRange) {
  const auto files = MemoryFileSystem::make();
  Rig one(files);
  Rig two(files);
  {
    auto first = one.begin();
    EXPECT_EQ(
        two.continuations().begin("k").status().code(),
        ErrorCode::kUnsupported);
  }
  EXPECT_TRUE(two.continuations().begin("k").ok());
  for (const std::string& key : {std::string(), std::string(1025, 'k')}) {
    EXPECT_EQ(
        code_of([&] { std::ignore = one.continuations().begin(key); }),
        ErrorCode::kInvalidArgument);
  }
}

} // namespace
} // namespace holdfast
