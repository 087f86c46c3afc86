// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: the manifest's rows of objects. Threads: one at a time.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/tier/batch.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/statement.h"

namespace holdfast {

struct ObjectRow {
  int64_t id = 0;
  Extent extent;
  int64_t tick = 0; // of the last use
  int64_t cost = 0;
  int64_t expires_ns = 0;
};

std::optional<ObjectRow>
find_object(Database& database, std::string_view space, std::string_view key);
std::vector<ObjectRow> all_objects(Database& database);
std::vector<ObjectRow> objects_of(Database& database, std::string_view space);
/// The object with exactly these bytes.
std::optional<ObjectRow> object_at(Database& database, const Extent& extent);

void add_object(
    Database& database,
    const ObjectToStore& object,
    const Extent& extent,
    int64_t tick);
void remove_object_row(Database& database, const ObjectRow& object);
void touch_object(Database& database, int64_t id, int64_t tick);

} // namespace holdfast
