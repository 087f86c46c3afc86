// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where a user's state is kept unless he says otherwise, and how much of the
// disk it may take. Any thread.

#pragma once

#include <optional>
#include <string>

#include "holdfast/base/strong.h"

namespace holdfast::app {

/// `holdfast` in $XDG_DATA_HOME, or in ~/.local/share; nothing where there is
/// no home.
std::optional<std::string> default_state_folder();

/// The smaller of 20 GiB and a tenth of what is free on the device of a folder
/// that exists.
Bytes default_disk_bytes(const std::string& folder);

/// The part of a state folder that is a disk tier.
std::string tier_folder(const std::string& folder);

} // namespace holdfast::app
