// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to the conversation format: offsets of the header's fields.
// docs/conversation.md has the same table.

#pragma once

#include <cstddef>

namespace holdfast::conversation_fields {

inline constexpr size_t kVersion = 8;
inline constexpr size_t kImageLayout = 12;
inline constexpr size_t kBlockTokens = 16;
inline constexpr size_t kZero = 20;
inline constexpr size_t kFileBytes = 24;
inline constexpr size_t kDirectoryOffset = 32;
inline constexpr size_t kNodes = 40;
inline constexpr size_t kImages = 44;
inline constexpr size_t kDirectoryChecksum = 48;
inline constexpr size_t kHeaderChecksum = 56; // of all bytes before it

} // namespace holdfast::conversation_fields
