// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Settings out of a JSON object, such as a model folder's config.json: what
// lies in an inner object has the names of the outer ones in front,
// "rope_parameters.rope_theta". Read event by event: memory is a small multiple
// of the text. Any thread.
//
// Errors: throws Error (kCorrupt), one line that names the file, for what is no
// JSON object, a name that comes twice, objects and lists more than 32 deep.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "holdfast/models/settings.h"

namespace holdfast {

using SettingValues = std::map<std::string, Setting, std::less<>>;

/// where: the file, for errors.
SettingValues
parse_json_settings(std::string_view json, std::string_view where);

} // namespace holdfast
