// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: the manifest's rows of records. Threads: one at a time.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "holdfast/tier/batch.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/statement.h"
#include "holdfast/tier/stored.h"

namespace holdfast {

std::optional<StoredRecord>
find_record(Database& database, const RecordName& name);
/// Of one space, or of all where `space` is null; by space and name.
std::vector<StoredRecord>
all_records(Database& database, const std::string_view* space);
/// Those whose last token is in that node.
std::vector<RecordName> records_on(Database& database, NodeId leaf);
/// True where one of them is pinned.
bool pinned_record_on(Database& database, NodeId leaf);
/// The record whose body starts there.
std::optional<RecordName>
record_at(Database& database, SegmentId segment, Bytes offset);

void add_record(Database& database, const StoredRecord& record);
void remove_record_row(Database& database, const RecordName& name);
void move_records(Database& database, NodeId from, NodeId to);

std::span<const std::byte> bytes_of_text(std::string_view text);

} // namespace holdfast
