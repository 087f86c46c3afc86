// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: what a batch must be, checked before anything changes.
// All throw kInvalidArgument. Threads: any.

#pragma once

#include "holdfast/tier/batch.h"
#include "holdfast/tier/node_table.h"
#include "holdfast/tier/statement.h"
#include "holdfast/tier/stored.h"

namespace holdfast {

/// What can be said without the manifest.
void require_batch(const StoreBatch& batch);
void require_object(const ObjectToStore& object);
/// `by` has the parent, and more tokens that begin with those of `tail`.
void require_extends(Database& database, const NodeRow& tail, NodeId by);
/// The record's length ends within its leaf.
void require_length(Database& database, const StoredRecord& record);

} // namespace holdfast
