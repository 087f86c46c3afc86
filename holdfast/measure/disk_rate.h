// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a device reads and writes at most, past the system's memory of files:
// requests of a mebibyte, several at a time, each from a thread of its own. One
// thread calls. Throws what the file system says.

#pragma once

#include <string>
#include <vector>

#include "holdfast/base/strong.h"

namespace holdfast::measure {

struct DiskRate {
  int in_flight = 0; // with which it was reached
  double bytes_s = 0;
};

/// The best of 1, 4, 8 and 16 requests at a time; each reads all the files.
DiskRate disk_read_rate(const std::vector<std::string>& paths);

/// The same of new files in the folder, each written, synced and removed.
DiskRate disk_write_rate(const std::string& folder, Bytes bytes);

} // namespace holdfast::measure
