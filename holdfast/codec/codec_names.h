// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codecs as people read and write them. Any thread.

#pragma once

#include <string>

#include "holdfast/codec/codec.h"

namespace holdfast {

/// Of all that are registered: "bf16, f16, ...".
std::string all_codec_names();
/// Of both channels: "q8/t3"; "q8" where they are alike.
std::string names_of(const Codec& keys, const Codec& values);

} // namespace holdfast
