// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to the segment format: offsets of the fields, bytes from the start
// of the header page or of an entry. docs/segment.md has the same tables.

#pragma once

#include <cstddef>

namespace holdfast::segment_fields {

// Header page.
inline constexpr size_t kVersion = 8;
inline constexpr size_t kPageBytes = 12;
inline constexpr size_t kImageLayout = 16;
inline constexpr size_t kBlockTokens = 20;
inline constexpr size_t kWriter = 24;
inline constexpr size_t kNumber = 32;
inline constexpr size_t kFileBytes = 40;
inline constexpr size_t kDirectoryOffset = 48;
inline constexpr size_t kLayouts = 56;
inline constexpr size_t kEntries = 60;
inline constexpr size_t kChecksums = 64;
inline constexpr size_t kMoreZero = 68;
inline constexpr size_t kDirectoryChecksum = 72;
inline constexpr size_t kHeaderZero = 80; // to kHeaderChecksum
inline constexpr size_t kHeaderChecksum = 4088; // of all bytes before it

// Entry.
inline constexpr size_t kType = 0;
inline constexpr size_t kGroup = 4;
inline constexpr size_t kPhase = 8;
inline constexpr size_t kLayout = 12;
inline constexpr size_t kOffset = 16;
inline constexpr size_t kBytes = 24;
inline constexpr size_t kKeyHigh = 32;
inline constexpr size_t kKeyLow = 40;
inline constexpr size_t kFirstChecksum = 48;
inline constexpr size_t kChecksumCount = 52;
inline constexpr size_t kPositions = 56;
inline constexpr size_t kEntryZero = 60;

} // namespace holdfast::segment_fields
