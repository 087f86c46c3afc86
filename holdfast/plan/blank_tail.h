// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Clears what an image holds behind a row's committed positions: other texts'
// state, where the image is a copy of a block that was shared; drafts that were
// not accepted; what was trimmed. So the bytes that are kept of a row follow
// from its tokens alone, and hold nothing of another text. Any thread; one
// writer an image.

#pragma once

#include "holdfast/plan/group.h"
#include "holdfast/plan/tail_image.h"

namespace holdfast {

/// Slots of keys and values behind the committed positions become what the
/// codecs make of zeros; of a recurrent layer inputs, gates and a running state
/// that counts such inputs become zero. Nothing where the positions fill the
/// block. Throws what a codec throws.
void blank_tail(const LayerGroup& group, const TailImage& tail);

} // namespace holdfast
