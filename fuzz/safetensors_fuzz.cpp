// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Reads arbitrary bytes as a safetensors file, every number of its tensors
// included, and as the index of a folder of such files.

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "holdfast/formats/safetensors.h"
#include "holdfast/formats/safetensors_index.h"

namespace {

using namespace holdfast;

/// A complaint is one line that names the file.
void require_line(const Status& status) {
  const std::string& text = status.text();
  if (!status.ok() &&
      (status.code() != ErrorCode::kCorrupt || !text.starts_with("FILE: ") ||
       text.find('\n') != std::string::npos || text.size() > 800)) {
    std::abort();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto header = parse_safetensors(bytes, "FILE");
  require_line(header.status());
  if (header.ok()) {
    int64_t all = 0;
    for (const auto& [name, tensor] : header.value().tensors) {
      const auto part = bytes.subspan(
          static_cast<size_t>(tensor.offset.get()),
          static_cast<size_t>(tensor.bytes.get()));
      all += tensor.bytes.get();
      if (is_float(tensor.type)) {
        std::vector<float> floats(static_cast<size_t>(tensor.elements()));
        read_tensor_floats(
            tensor.type, part.data(), std::ssize(floats), floats.data());
      }
    }
    // None overlap.
    if (all > static_cast<int64_t>(size)) {
      std::abort();
    }
  }
  const auto index = parse_safetensors_index(
      {reinterpret_cast<const char*>(data), size}, "FILE");
  require_line(index.status());
  if (index.ok() && index.value().empty()) {
    std::abort();
  }
  return 0;
}
