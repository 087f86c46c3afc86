// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A text that was generated, as a record of the space "text". Any thread.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "holdfast/formats/tokenizer.h"
#include "holdfast/prefix/named_record.h"
#include "holdfast/prefix/prefix_cache.h"

namespace holdfast {

/// model: the name of its file. It takes the place of texts that it goes on
/// from.
NamedRecord text_record(
    const PrefixCache& cache,
    const Tokenizer& tokenizer,
    const std::string& model,
    std::span<const int32_t> tokens);

/// How the text of these tokens begins, see first_line().
std::string
first_line_of(const Tokenizer& tokenizer, std::span<const int32_t> tokens);

} // namespace holdfast
