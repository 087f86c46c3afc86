// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where kernels run: the team of threads and the kernel path. A value; any
// thread.

#pragma once

#include <memory>

#include "holdfast/env/cpu.h"
#include "holdfast/env/executor.h"

namespace holdfast {

struct Runtime {
  std::shared_ptr<Executor> executor;
  KernelPath path = KernelPath::kPlain;
};

} // namespace holdfast
