// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One RAM budget over the prefix index, the records that wait, and the objects
// beside them: the sum binds, what is in use stays, a refusal changes nothing,
// and what is restored is what it was.

#include "holdfast/objects/shared_ram.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "holdfast/objects/object_cache.h"
#include "tests/code_of.h"
#include "tests/prefix/cache_process.h"
#include "tests/prefix/known.h"

namespace holdfast {
namespace {

using namespace test;

constexpr int64_t kMiB = int64_t{1} << 20;

/// Images of one block in all groups.
int64_t block_bytes() {
  int64_t sum = 0;
  for (const Bytes bytes : State(options()).groups().image_bytes()) {
    sum += bytes.get();
  }
  return sum;
}

/// Another text for every number.
std::vector<int32_t> chat(int32_t number, int64_t length) {
  std::vector<int32_t> tokens = text_tokens(length);
  for (int32_t& token : tokens) {
    token += number * 1000;
  }
  return tokens;
}

/// An index and an object cache over one budget, of so many bytes of images and
/// room for the index.
struct Shared {
  explicit Shared(int64_t bytes)
      : ram(std::make_shared<SharedRam>(Bytes(bytes))),
        known(full_rules(), {.ram = ram}, kMiB),
        objects({.shared_ram = ram}) {}

  void put_object(const char* name, int64_t bytes, int64_t cost = 0) {
    objects.put({"test", name}, objects.open(Bytes(bytes)), cost);
  }
  bool has(const char* name) {
    return objects.get({"test", name}).has_value();
  }
  void check() {
    known.tree.check();
    EXPECT_LE(known.tree.bytes() + objects.stats().bytes, ram->limit());
    EXPECT_EQ(known.tree.bytes() + objects.stats().bytes, ram->used());
  }

  std::shared_ptr<SharedRam> ram;
  Known known;
  ObjectCache objects;
};

TEST(PrefixSharedRam, TheSumOfIndexAndObjectsIsWithinTheLimit) {
  Shared shared(12 * kMiB);
  std::mt19937 random(1);
  std::vector<Object> held;
  std::vector<NodeLease> leases;
  int64_t refused = 0;
  for (int i = 0; i < 600; ++i) {
    if (random() % 2) {
      const auto number = static_cast<int32_t>(random() % 8);
      const auto blocks = static_cast<int64_t>(1 + random() % 5);
      const Inserted put = shared.known.put(text_of(64 * blocks - 7, number));
      if (random() % 8 == 0) {
        leases.push_back(shared.known.tree.lease(put.leaf));
      }
    } else {
      const ObjectKey key{"test", std::to_string(random() % 12)};
      const auto size = static_cast<int64_t>(1 + random() % (2 * kMiB));
      try {
        held.push_back(
            shared.objects.put(key, shared.objects.open(Bytes(size))));
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::kOutOfBudget) << error.what();
        ++refused;
      }
    }
    if (random() % 4 == 0) {
      held.clear();
    }
    if (random() % 32 == 0) {
      leases.clear();
    }
    shared.check();
  }
  EXPECT_GT(shared.known.tree.stats().lost_images, 20);
  EXPECT_GT(shared.objects.stats().lost, 20);
  EXPECT_GT(shared.known.tree.stats().hits + refused, 0);
}

TEST(PrefixSharedRam, WhatWasUsedLongestAgoLeavesAmongWhatCostsAlike) {
  Shared shared(9 * kMiB);
  const Text old = text_of(4 * 64, 1);
  // As dear a byte as the blocks: 64 tokens of a millisecond each in a MiB.
  const int64_t cost = 64 * kNsPerToken * 4;
  shared.known.put(old);
  shared.put_object("newer", 4 * kMiB, cost);
  shared.put_object("newest", kMiB, cost / 4);
  EXPECT_LT(shared.known.usable(old), 4 * 64 - 1); // its end went
  EXPECT_TRUE(shared.has("newer"));
  // And the other way round.
  for (int32_t number = 2; number < 6; ++number) {
    shared.known.put(text_of(64, number));
    shared.known.usable(old);
  }
  EXPECT_FALSE(shared.has("newest"));
  shared.check();
}

TEST(PrefixSharedRam, WhatMakesNoRoomIsRefusedAndNothingLeaves) {
  Shared shared(9 * kMiB);
  const Inserted pinned = shared.known.put(text_of(4 * 64, 1));
  ASSERT_TRUE(shared.known.tree.pin(pinned.leaf));
  const Inserted leased = shared.known.put(text_of(2 * 64, 2));
  NodeLease lease = shared.known.tree.lease(leased.leaf);
  shared.known.put(text_of(64, 3)); // may leave
  const TreeStats before = shared.known.tree.stats();
  EXPECT_EQ(
      code_of([&] { shared.objects.open(Bytes(4 * kMiB)); }),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(shared.known.tree.stats().ram_images, before.ram_images);
  EXPECT_EQ(shared.known.tree.stats().lost_images, 0);
  EXPECT_TRUE(shared.objects.open(Bytes(2 * kMiB))); // beside them
  EXPECT_EQ(shared.known.usable(text_of(4 * 64, 1)), 4 * 64 - 1);
  EXPECT_EQ(shared.known.usable(text_of(2 * 64, 2)), 2 * 64 - 1);
  shared.check();
  lease = {};
  EXPECT_TRUE(shared.objects.open(Bytes(4 * kMiB)));
  EXPECT_EQ(shared.known.usable(text_of(4 * 64, 1)), 4 * 64 - 1);
  shared.check();
}

TEST(PrefixSharedRam, AnObjectInUseIsNotPushedOutByAText) {
  Shared shared(6 * kMiB);
  const Object held = shared.objects.put(
      {"test", "held"}, shared.objects.open(Bytes(4 * kMiB)));
  const Inserted cut = shared.known.put(text_of(4 * 64, 1));
  EXPECT_EQ(cut.kept, Position(64)); // what fits beside it
  EXPECT_TRUE(shared.has("held"));
  shared.check();
}

TEST(PrefixSharedRam, ATreeThatEndsGivesItsPartBackWithItsLastLease) {
  const auto ram = std::make_shared<SharedRam>(Bytes(4 * kMiB));
  ObjectCache objects({.shared_ram = ram});
  NodeLease lease;
  {
    Known known(full_rules(), {.ram = ram}, kMiB);
    lease = known.tree.lease(known.put(text_of(3 * 64, 1)).leaf);
    EXPECT_EQ(
        code_of([&] { objects.open(Bytes(2 * kMiB)); }),
        ErrorCode::kOutOfBudget);
    EXPECT_EQ(
        code_of([&] { known.tree.set_budget(Bytes(1)); }),
        ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(objects.open(Bytes(kMiB / 2)));
  EXPECT_EQ(
      code_of([&] { objects.open(Bytes(2 * kMiB)); }), ErrorCode::kOutOfBudget);
  lease = {};
  EXPECT_TRUE(objects.open(Bytes(4 * kMiB)));
  EXPECT_EQ(ram->used(), Bytes(0));
}

/// A cache of a state over a folder, and objects, within one budget.
struct Server {
  Server(std::shared_ptr<FileSystem> files, int64_t bytes)
      : ram(std::make_shared<SharedRam>(Bytes(bytes))),
        process(options(), std::move(files), ram),
        objects({.shared_ram = ram}) {}

  Bytes counted() {
    const TreeStats stats = process.cache().stats();
    return stats.image_bytes + stats.index_bytes + objects.stats().bytes;
  }

  std::shared_ptr<SharedRam> ram;
  Process process;
  ObjectCache objects;
};

TEST(PrefixSharedRam, ARowsBlocksStayAndItGoesOnWithItsOwnBits) {
  const Sequence vectors(kLength, 71);
  Server server(nullptr, 7 * block_bytes());
  Process alone(options());
  server.process.run(chat(0, 190), vectors);
  const Begun begun = server.process.cache().begin({chat(0, 190)});
  ASSERT_EQ(begun.reused, Position(189));
  // The row holds two of the three blocks.
  EXPECT_EQ(
      code_of([&] { server.objects.open(Bytes(6 * block_bytes())); }),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(server.process.cache().stats().lost_images, 0);
  const auto out =
      append_to(server.process.state(), begun.row, {&vectors, 189, 1});
  EXPECT_EQ(out, last(alone.run(chat(0, 190), vectors).outputs, out.size()));
  server.process.state().remove_row(begun.row);
  EXPECT_TRUE(server.objects.open(Bytes(6 * block_bytes())));
  EXPECT_LE(server.counted(), server.ram->limit());
}

TEST(PrefixSharedRam, ARecordThatFindsNoRoomIsRefusedAndNothingLeaves) {
  const Sequence vectors(kLength, 72);
  Server server(nullptr, 6 * block_bytes());
  server.process.run(chat(0, 100), vectors);
  const Object held = server.objects.put(
      {"test", "held"}, server.objects.open(Bytes(3 * block_bytes())));
  NamedRecord record{.name = {"test", "large"}, .body = {}};
  record.body.set(
      "part",
      {.version = 1,
       .bytes = std::string(static_cast<size_t>(4 * block_bytes()), 'x')});
  EXPECT_EQ(
      code_of([&] { server.process.cache().put({chat(0, 100)}, record); }),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(server.process.cache().stats().lost_images, 0);
  EXPECT_EQ(server.process.cache().why({chat(0, 100)}).usable, Position(99));
  EXPECT_FALSE(server.process.cache().record({"test", "large"}).ok());
  EXPECT_EQ(server.counted(), server.ram->used());
  // A smaller one counts beside what is held; older texts leave for it.
  record.body.set(
      "part",
      {.version = 1,
       .bytes = std::string(static_cast<size_t>(2 * block_bytes()), 'x')});
  EXPECT_TRUE(server.process.cache().put({chat(0, 100)}, record));
  EXPECT_GE(server.ram->used(), server.counted() + Bytes(2 * block_bytes()));
  EXPECT_LE(server.ram->used(), server.ram->limit());
}

TEST(PrefixSharedRam, WhatWaitsForTheDiskCountsUntilItIsThere) {
  const Sequence vectors(kLength, 73);
  const auto files = disk();
  Server server(files, 8 * block_bytes());
  for (int32_t number = 0; number < 8; ++number) {
    server.process.run(chat(number, 100 + number), vectors);
    server.objects.put(
        {"test", std::to_string(number)},
        server.objects.open(Bytes(block_bytes())));
    ASSERT_LE(server.counted(), server.ram->limit());
    ASSERT_LE(server.ram->used(), server.ram->limit());
    server.process.cache().check();
  }
  EXPECT_TRUE(server.process.cache().flush().durable);
  EXPECT_EQ(server.counted(), server.ram->used()); // nothing waits
  // After a restart over a budget that others fill, too.
  Server again(files, 8 * block_bytes());
  again.objects.put(
      {"test", "a"}, again.objects.open(Bytes(7 * block_bytes())));
  Process alone(options());
  const Process::Run restored = again.process.run(chat(7, 107), vectors);
  EXPECT_EQ(restored.reused, Position(106));
  EXPECT_EQ(
      restored.outputs,
      last(alone.run(chat(7, 107), vectors).outputs, restored.outputs.size()));
  EXPECT_LE(again.counted(), again.ram->limit());
}

} // namespace
} // namespace holdfast
