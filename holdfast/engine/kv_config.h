// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The file that says how each layer stores its keys and values (--kv-config),
// and what it means for the layers of a model. docs/codecs.md has the format:
//
//   {"default": "q8", "groups": {"sliding": "bf16"}, "layers": {"0-2":
//   "q8/t4"}}
//
// Pure functions; any thread.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/codec/kv_choice.h"
#include "holdfast/plan/group.h"
#include "holdfast/state/precision.h"

namespace holdfast {

/// A policy from the text of such a file; what it leaves out is `usual`.
/// kInvalidArgument for text that is no JSON, for unknown, repeated or
/// overlapping keys and for choices that parse_kv_choice() refuses; the text
/// names the place, such as "$.layers.0-2".
Result<KvPolicy> parse_kv_config(std::string_view text, const KvChoice& usual);
/// The same from a file of at most 1 MiB. kNotFound and kIo as well.
Result<KvPolicy> read_kv_config(const std::string& path, const KvChoice& usual);

/// One phase or two.
std::vector<LayerPhase> phases_of(const KvChoice& choice);
/// The phases of each layer of a model that stores keys and values of its own,
/// after KvPolicy::fits(); throws what that refuses.
Precision precision_of(const KvPolicy& policy, std::span<const KvLayer> model);

} // namespace holdfast
