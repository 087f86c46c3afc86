// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A file of a folder that somebody else made, by the name that another file of
// it gives: never one outside the folder. A name is a relative path without
// ".."; links are followed only to what lies in the folder, with one exception,
// the layout of hub caches:
//
//   ROOT/snapshots/REVISION/config.json -> ROOT/blobs/HASH
//
// where a link may lead to a file directly in ROOT/blobs. Any thread.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/base/status.h"

namespace holdfast {

/// The real path of the file, without links. kNotFound where there is none,
/// kInvalidArgument where the folder is none, kCorrupt where the name or a link
/// leads out; the text names the path.
Result<std::string>
file_in_folder(const std::string& folder, std::string_view name);

} // namespace holdfast
