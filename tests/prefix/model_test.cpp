// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Random scripts over random windows, sinks, phases, spans and recurrent
// groups: the index and the list agree on every prompt, and what is given out
// is the prompt's own.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/prefix/known.h"
#include "tests/prefix/known_model.h"

namespace holdfast {
namespace {

using Random = std::mt19937;

int64_t below(Random& random, int64_t end) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(end));
}

std::vector<GroupRule> draw_rules(Random& random) {
  std::vector<GroupRule> rules;
  const int64_t groups = 1 + below(random, 3);
  for (int64_t group = 0; group < groups; ++group) {
    GroupRule rule;
    switch (below(random, 5)) {
      case 0:
        break;
      case 1:
        rule.window = 2; // recurrent
        break;
      case 2: // needs nothing but a place, so that another says what is known
        rule.window = !rules.empty() && rules[0].window == 0 ? 1 : 0;
        break;
      default:
        rule.window = 2 + below(random, 200);
        rule.sinks = below(random, 2) * below(random, 140);
    }
    Position start;
    for (int64_t i = below(random, 4); i > 1; --i) {
      start += Position(1 + below(random, 150));
      rule.starts.push_back(start);
    }
    rules.push_back(rule);
  }
  return rules;
}

/// Texts that share prefixes: one of a pool, cut, and perhaps gone on with.
Text draw_text(Random& random, const std::vector<Text>& known) {
  Text text;
  if (!known.empty() && below(random, 6) > 0) {
    text = known[static_cast<size_t>(below(random, std::ssize(known)))];
    text = text.first(1 + below(random, text.size()));
  }
  while (!text.marks.empty() && text.marks.back().end.get() > text.size()) {
    text.marks.pop_back();
  }
  for (int64_t more = below(random, 4) * below(random, 60); more > 0; --more) {
    const Position at(text.size());
    if (below(random, 50) == 0) {
      const int64_t length = 1 + below(random, 90);
      text.marks.push_back(
          {at,
           at + Position(length),
           below(random, 2) == 0,
           std::string(1, "xy"[below(random, 2)])});
      for (int64_t i = 0; i < length; ++i) {
        text.tokens.push_back(static_cast<int32_t>(below(random, 80) == 0));
      }
    } else {
      text.tokens.push_back(static_cast<int32_t>(below(random, 30) == 0));
    }
  }
  if (text.tokens.empty()) {
    text.tokens.push_back(0);
  }
  return text;
}

struct Game {
  explicit Game(uint32_t seed)
      : random(seed), known(draw_rules(random)), model(known.rig.rules) {}

  void put() {
    texts.push_back(draw_text(random, texts));
    const Text& text = texts.back();
    std::vector<GivenImage> images;
    const int64_t keep = below(random, 4);
    for (size_t group = 0; group < known.rig.rules.size(); ++group) {
      const auto phase =
          static_cast<int32_t>(below(random, known.rig.rules[group].phases()));
      for (int64_t block = 0; block * kBlockTokens < text.size(); ++block) {
        const ImageSlot slot{static_cast<int32_t>(group), phase};
        if (keep > 0 || below(random, 3) > 0) {
          images.push_back(
              {BlockIndex(block), slot, known.rig.image(text, block, slot)});
        }
      }
    }
    model.put(text, images);
    const Inserted put = known.tree.insert(known.scope, text.path(), images);
    fresh.insert(fresh.end(), put.fresh.begin(), put.fresh.end());
  }
  void store() {
    const WriteBatch batch = known.tree.begin_write(fresh);
    fresh.clear();
    known.tree.stored(batch, known.disk.store(batch));
    model.store_all();
  }
  void lose_ram() {
    known.tree.reclaim(Bytes(int64_t{1} << 40));
    fresh.clear();
    model.lose_ram();
  }
  void ask() {
    const Text prompt = draw_text(random, texts);
    RC_ASSERT(known.usable(prompt) == model.usable(prompt));
  }
  void play(uint8_t move) {
    switch (move % 8) {
      case 0:
      case 1:
      case 2:
        return put();
      case 3:
        return move % 5 == 0 ? lose_ram() : store();
      default:
        return ask();
    }
  }

  Random random;
  Known known;
  KnownModel model;
  std::vector<Text> texts;
  std::vector<FreshImages> fresh;
};

void play(uint32_t seed, const std::vector<uint8_t>& moves) {
  Game game(seed);
  for (const uint8_t move : moves) {
    game.play(move);
    game.known.tree.check();
  }
}

RC_GTEST_PROP(
    PrefixModel,
    AgreesWithAListOnEveryPrompt,
    (uint32_t seed, const std::vector<uint8_t>& moves)) {
  play(seed, moves);
}

// Long scripts, as rapidcheck's own sizes stay small.
TEST(PrefixModel, AgreesWithAListOverLongScripts) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Random random(seed + 1000);
    std::vector<uint8_t> moves(80);
    for (uint8_t& move : moves) {
      move = static_cast<uint8_t>(random());
    }
    SCOPED_TRACE(seed);
    play(seed, moves);
  }
}

// With little room: sums right, the budget kept, nothing of others given out.
TEST(PrefixModel, KeepsItsSumsAndItsBudgetWhileItEvicts) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const Bytes budget(60000 + below(random, 400000));
    PrefixRig rig(draw_rules(random));
    PrefixTree tree({.budget = budget});
    const ScopeHandle scope = tree.open(PrefixRig::scope(), rig.rules);
    RigDisk disk;
    std::vector<Text> texts;
    std::vector<WriteBatch> writing;
    std::vector<Usable> held;
    for (int move = 0; move < 150; ++move) {
      const Text text = draw_text(random, texts);
      texts.push_back(text);
      const Inserted put = tree.insert(
          scope,
          text.path(),
          rig.images(text),
          {.priority = static_cast<int32_t>(below(random, 3) - 1)});
      ASSERT_LE(tree.bytes(), budget);
      ASSERT_LE(put.kept, text.path().length());
      if (below(random, 3) == 0) {
        writing.push_back(tree.begin_write(put.fresh));
      }
      if (!writing.empty() && below(random, 2) == 0) {
        if (below(random, 3) == 0) {
          tree.not_stored(writing.back());
        } else {
          tree.stored(writing.back(), disk.store(writing.back()));
        }
        writing.pop_back();
      }
      const Text prompt = draw_text(random, texts);
      Usable found = tree.usable(scope, prompt.path());
      ASSERT_TRUE(PrefixRig::own(found, prompt));
      if (below(random, 5) == 0) {
        held.push_back(std::move(found));
      }
      if (below(random, 10) == 0) {
        held.clear();
      }
      if (below(random, 10) == 0) {
        tree.removed(
            std::vector<NodeId>{NodeId(1 + below(random, disk.last_node + 1))});
      }
      if (below(random, 20) == 0) {
        tree.forget(scope, prompt.path());
      }
      tree.check();
    }
  }
}

} // namespace
} // namespace holdfast
