// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Scripts of row operations. Numbers are reduced to what is possible when an
// operation runs, so that every shrunk script is a script. Values; any thread.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include <rapidcheck.h>

namespace holdfast::conformance {

enum class Verb {
  kAdd,
  kAppend, // a chunk of several rows; all is committed
  kSpeculate, // a draft of several rows; each keeps a part
  kRollBack, // a draft, rolled back: by word, by scope or by exception
  kFork,
  kTrim,
  kCancel,
  kReorder,
  kFilter,
  kExtract, // forks of rows as a batch of their own, which joins the other
  kMerge, // forks of rows join the other batch
  kTake, // rows leave for the other batch
  kSnapshot,
  kAdopt,
  kReplay, // a short draft through the graph of an earlier step
};

struct Operation {
  Verb verb = Verb::kAdd;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
};
std::ostream& operator<<(std::ostream& out, const Operation& operation);

/// Most are appends and drafts: a row needs many to leave a window.
rc::Gen<std::vector<Operation>> scripts();
/// On rows that are there already: no new ones, more forks.
rc::Gen<std::vector<Operation>> scripts_of_forks();

} // namespace holdfast::conformance
