// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where a user's state is kept unless he says otherwise, and how much of the
// disk and of memory it may take. Any thread.

#pragma once

#include <istream>
#include <optional>
#include <string>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/env/file_system.h"

namespace holdfast::app {

/// `holdfast` in $XDG_DATA_HOME, or in ~/.local/share; nothing where there is
/// no home.
std::optional<std::string> default_state_folder();

/// The smaller of 20 GiB and a tenth of what is free on the device of a state
/// folder that exists, or taken there by what it keeps: it does not shrink as
/// the folder fills. Where others filled the device, what is kept stays.
Bytes default_disk_bytes(const std::string& folder);
/// The same of these figures.
Bytes disk_share(Bytes free, Bytes kept);
/// Half of the memory that the system says a process may take.
Bytes default_ram_bytes();
/// The same of what its /proc/meminfo says; 1 GiB where that says nothing.
Bytes ram_share(std::istream& meminfo);
/// What the tier of a state folder takes on the device.
Bytes kept_bytes(const std::string& folder);

/// The part of a state folder that is a disk tier.
std::string tier_folder(const std::string& folder);

/// Makes the folder and its tier's, and the folders that they lie in where
/// there are none. When ok, a loss of power does not take them away: what is
/// durable in the tier is still found. The tier's is made last, so one that is
/// there has durable folders above it.
Status make_state_folder(FileSystem& files, const std::string& folder);

} // namespace holdfast::app
