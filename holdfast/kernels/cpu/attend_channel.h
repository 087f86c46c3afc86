// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A codec as the attention kernels see it: which form its planes have and what
// its codes stand for. Pure functions; any thread.

#pragma once

#include <cstdint>

#include "holdfast/codec/codec.h"
#include "holdfast/kernels/cpu/attend_kernels.h"

namespace holdfast::cpu {

/// Ok, or kUnsupported where no kernel reads the codec or it does not fit.
Status supports_channel(const Codec& codec, ChannelRole role, int64_t head_dim);

/// Of a codec that supports_channel() takes.
ChannelView
view_channel(const Codec& codec, ChannelRole role, int64_t head_dim);

/// Elements that a packed query has.
int64_t packed_key_width(const ChannelView& keys, int64_t head_dim);
/// Groups of coded keys that have scales of their own; 0 of dense ones.
int64_t key_groups(const ChannelView& keys, int64_t head_dim);

/// Keys and values of these codecs are stored rotated (codec/rotation.h).
bool stored_rotated(const Codec& codec);

} // namespace holdfast::cpu
