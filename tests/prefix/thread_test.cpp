// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Many threads on one index. Also run under the thread sanitizer.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "tests/prefix/known.h"
#include "tests/sanitized.h"

namespace holdfast {
namespace {

constexpr int kMoves = test::kThreadSanitizer ? 2000 : 10000;
constexpr int kThreads = 8;
constexpr int kTexts = 40;

/// Texts in four families, each with all its images: blocks are made on one
/// thread, as an engine does.
struct Shared {
  Shared() : known({{}, {.window = 70}}, {.budget = Bytes(600000)}) {
    for (int32_t i = 0; i < kTexts; ++i) {
      Text text = text_of(100 + 17 * (i % 10), i % 4);
      text.tokens[size_t(60 + i)] = -i;
      texts.push_back(text);
      images.push_back(known.rig.images(text));
    }
  }
  Known known;
  std::vector<Text> texts;
  std::vector<std::vector<GivenImage>> images;
  std::mutex disk; // the stand-in has none of its own
};

void play(Shared& shared, uint32_t seed, std::atomic<int64_t>& wrong) {
  std::mt19937 random(seed);
  PrefixTree& tree = shared.known.tree;
  std::vector<Usable> held;
  for (int move = 0; move < kMoves; ++move) {
    const size_t i = random() % kTexts;
    const Text& text = shared.texts[i];
    switch (random() % 8) {
      case 0: {
        const Inserted put =
            tree.insert(shared.known.scope, text.path(), shared.images[i]);
        const WriteBatch batch = tree.begin_write(put.fresh);
        if (random() % 4 == 0) {
          tree.not_stored(batch);
        } else {
          std::unique_lock lock(shared.disk);
          const Stored stored = shared.known.disk.store(batch);
          lock.unlock();
          tree.stored(batch, stored);
        }
        break;
      }
      case 1:
        tree.reclaim(Bytes(20000));
        break;
      case 2:
        tree.forget(shared.known.scope, text.path());
        break;
      case 3:
        tree.removed(std::vector<NodeId>{NodeId(1 + int64_t(random() % 2000))});
        break;
      case 4:
        held.clear();
        break;
      default: {
        Usable found = tree.usable(shared.known.scope, text.path());
        wrong += !PrefixRig::own(found, text);
        held.push_back(std::move(found));
        if (held.size() > 8) {
          held.erase(held.begin());
        }
      }
    }
  }
  for (const Usable& found : held) { // handles outlive their entries
    for (const auto& group : found.images) {
      for (const UsableImage& image : group) {
        wrong += image.ram && !image.ram.sealed();
      }
    }
  }
}

TEST(PrefixThreads, B57NoHitIsTornWhileOthersEvict) {
  Shared shared;
  std::atomic<int64_t> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (uint32_t seed = 0; seed < kThreads; ++seed) {
      threads.emplace_back([&, seed] { play(shared, seed, wrong); });
    }
  }
  EXPECT_EQ(wrong, 0);
  shared.known.tree.check();
  EXPECT_LE(shared.known.tree.bytes(), Bytes(600000));
  EXPECT_GT(shared.known.tree.stats().hits, 0);
}

} // namespace
} // namespace holdfast
