// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Bytes as small hexadecimal digits, and back. Any thread.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace holdfast {

std::string to_hex(std::span<const std::byte> bytes);
/// False, with `into` in any state, unless `text` is what to_hex gives for
/// into.size() bytes.
bool from_hex(std::string_view text, std::span<std::byte> into);

} // namespace holdfast
