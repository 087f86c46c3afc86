// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A tree with one scope, for tests.

#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "holdfast/env/manual_clock.h"
#include "holdfast/prefix/prefix_tree.h"
#include "tests/prefix/prefix_rig.h"

namespace holdfast {

struct Known {
  explicit Known(
      std::vector<GroupRule> rules,
      TreeOptions options = {},
      int64_t image = kRigImage)
      : rig(std::move(rules), image),
        tree(std::move(options)),
        scope(tree.open(PrefixRig::scope(), rig.rules)) {}

  Inserted
  put(const Text& text,
      std::vector<int32_t> phases = {},
      const InsertOptions& options = {}) {
    return tree.insert(scope, text.path(), rig.images(text, phases), options);
  }
  /// The usable length; what is given out is the prompt's own.
  int64_t usable(const Text& prompt) {
    const Usable found = tree.usable(scope, prompt.path());
    EXPECT_TRUE(PrefixRig::own(found, prompt));
    if (found.length > Position(0)) {
      EXPECT_EQ(rig.row(found).chain.committed(), found.length);
    }
    tree.check();
    return found.length.get();
  }
  Why why(const Text& prompt) const {
    return tree.why(scope, prompt.path());
  }
  /// Puts what is new on the disk.
  void store(const Inserted& inserted) {
    const WriteBatch batch = tree.begin_write(inserted.fresh);
    tree.stored(batch, disk.store(batch));
  }

  PrefixRig rig;
  PrefixTree tree;
  ScopeHandle scope;
  RigDisk disk;
};

inline Text changed_at(Text text, int64_t position) {
  text.tokens[static_cast<size_t>(position)] += 7;
  return text;
}

/// So many bytes of images, and room for the index.
inline TreeOptions budget_of(int64_t bytes, int64_t index = 1 << 20) {
  return {.budget = Bytes(bytes + index)};
}

} // namespace holdfast
