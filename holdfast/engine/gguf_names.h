// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// GGUF's names beside those of published checkpoints, which families use. A
// family that is read from GGUF alone (gemma3) asks under GGUF's own names;
// they pass as they are. Stateless; any thread.

#pragma once

#include <string>
#include <string_view>

namespace holdfast {

/// The family of an architecture, as a published config.json names it; nothing
/// where settings are not translated.
std::string_view gguf_family(std::string_view architecture);

/// "layers.3.mlp.up_proj.weight" -> "blk.3.ffn_up.weight"; a name that is not
/// known as it is.
std::string
gguf_tensor_name(std::string_view family, std::string_view published);

/// "blk.3.ffn_up.weight" -> "layers.3.mlp.up_proj.weight", for matrices of
/// dense layers and the output; a name that is not known as it is.
std::string published_tensor_name(std::string_view gguf);

} // namespace holdfast
