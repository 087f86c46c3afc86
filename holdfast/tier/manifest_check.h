// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: what every row of a manifest keeps to. A checksum finds
// what a medium did; this finds what a program that is wrong wrote, or what is
// left of a write that was lost.
//
// Who reads a row requires what it goes by; a row that does not hold is damage
// of the manifest, which is then read whole (first_row_fault). Counts are no
// such damage: they follow from rows, and are counted again. Threads: one at a
// time.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/tier/ids.h"
#include "holdfast/tier/statement.h"

namespace holdfast {

/// Ids are counted on from 2^60 at the most (manifest.cpp).
inline constexpr int64_t kMostId = int64_t{1} << 62;
/// Of one file: 1 PiB, so that sums of a few never overflow.
inline constexpr int64_t kMostBytes = int64_t{1} << 50;

/// Throws ManifestError kCorrupt unless `holds`. `what`: "a parent before its
/// child".
void require_row(bool holds, const char* what);

/// Columns segment, offset, bytes from `column` on: whole pages of a segment.
Extent extent_in(const Statement& row, int column);

/// The first row that no manifest of ours has, in words; empty where all is
/// well. Reads every row.
std::string first_row_fault(Database& database);

/// Counts that rows keep beside what they count, and that do not agree.
std::vector<std::string> counter_faults(Database& database);
/// Counts children of nodes and live bytes of segments again; holes that cannot
/// be are none. In a transaction of its own.
void repair_counts(Database& database);

} // namespace holdfast
