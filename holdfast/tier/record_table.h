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
/// True where its time is over; a pin outlasts it.
bool is_over(const StoredRecord& record, int64_t wall_ns);
/// Those whose time is over.
std::vector<RecordName> records_over(Database& database, int64_t wall_ns);
/// Those that have a body and stand for no node, save pinned ones: what was
/// stored longest ago comes first.
std::vector<StoredRecord> bodies_alone(Database& database);
/// Those whose last token is in that node.
std::vector<RecordName> records_on(Database& database, NodeId leaf);
/// True where one of them is pinned.
bool pinned_record_on(Database& database, NodeId leaf);
/// The record with exactly this body.
std::optional<RecordName> record_at(Database& database, const Extent& extent);

/// In place of the one of that name.
void put_record_row(Database& database, const StoredRecord& record);
void pin_record_row(Database& database, const RecordName& name, bool pinned);
void remove_record_row(Database& database, const RecordName& name);
/// Its body cannot be read: the row stays without, and says so.
void lose_record_body(Database& database, const RecordName& name);
void move_records(Database& database, NodeId from, NodeId to);

std::span<const std::byte> bytes_of_text(std::string_view text);

} // namespace holdfast
