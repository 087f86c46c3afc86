// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The end of a command that keeps state: what it computed goes to the disk,
// also where it fails. One thread.

#pragma once

#include <functional>

#include "holdfast/prefix/prefix_cache.h"

namespace holdfast::app {

/// Runs `body`, then writes what is not on disk yet, for at most
/// kFlushPatience, and says on standard error what was not kept. Gives the
/// body's exit code, or throws what it threw. Where the disk, or another
/// process that has the folder locked, answers nobody until then, the process
/// ends here: a writer cannot be called back, and what it had begun counts as
/// never written. cache: null where nothing is kept.
int with_state_kept(PrefixCache* cache, const std::function<int()>& body);

} // namespace holdfast::app
