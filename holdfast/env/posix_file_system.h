// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Files and folders of the system this process runs on. Threads: any.
//
// Pipes, sockets and devices are refused, without waiting for their other end.
// A lock is let go of with its owner, or with the process; a child made by
// fork alone keeps it from others while both live, but cannot let go of it.

#pragma once

#include <memory>

#include "holdfast/env/file_system.h"

namespace holdfast {

/// The one of this process.
std::shared_ptr<FileSystem> posix_file_system();

} // namespace holdfast
