// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a disk tier is asked to forget, and what of it had to stay. Values; any
// thread.

#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/tier/batch.h"
#include "holdfast/tier/ids.h"

namespace holdfast {

struct ForgetRequest {
  std::vector<RecordName> records; // those that there are
  /// Tokens of texts, of any scope. Their state goes as far as no record that
  /// is left, no pin and nothing of `kept` needs it; so does what goes on after
  /// them, or shares 8 tokens of a block with them.
  std::vector<std::vector<int32_t>> texts;
  /// Of texts that keep their state, beside the records that are left.
  std::vector<std::vector<int32_t>> kept;
};

struct Forgotten {
  Removed removed;
  /// Blocks that lost their state and the tokens behind the end of the records
  /// that end in them: those compute it again.
  int64_t shortened = 0;
  /// Tokens behind a record's end that stay, because its block has marks, which
  /// cannot be cut here.
  struct Rest {
    RecordName record;
    int64_t tokens = 0;
  };
  std::vector<Rest> rests;
};

} // namespace holdfast
