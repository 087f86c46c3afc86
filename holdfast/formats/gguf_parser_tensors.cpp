// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "holdfast/base/bits.h"
#include "holdfast/base/quoted_text.h"
#include "holdfast/formats/gguf_parser.h"

namespace holdfast {

void GgufParser::read_tensor() {
  const std::string ordinal = "tensor " + std::to_string(file_.tensors_.size());
  const int64_t start = cursor_.offset();
  GgufTensor tensor;
  tensor.name = cursor_.read_string(ordinal, " (name)");
  if (tensor.name.empty() || tensor.name.size() > 64) {
    cursor_.corrupt(
        ordinal + " (name)",
        start,
        "a name of 1 to 64 bytes",
        std::to_string(tensor.name.size()) + " bytes");
  }
  const std::string field = "tensor " + quoted_text(tensor.name);
  read_shape(tensor, field);
  read_type(tensor, field);
  read_offset(tensor, field);
  file_.tensors_.push_back(tensor);
}

void GgufParser::read_shape(GgufTensor& tensor, const std::string& field) {
  const int64_t start = cursor_.offset();
  const auto dims = cursor_.read<uint32_t>(field, " (dimensions)");
  if (dims < 1 || dims > 4) {
    cursor_.corrupt(
        field + " (dimensions)", start, "1 to 4", std::to_string(dims));
  }
  tensor.dims = static_cast<int>(dims);
  int64_t weights = 1;
  for (int i = 0; i < tensor.dims; ++i) {
    const int64_t at = cursor_.offset();
    const auto size = cursor_.read<uint64_t>(field, " (shape)");
    if (size == 0 || size > INT64_MAX ||
        __builtin_mul_overflow(weights, static_cast<int64_t>(size), &weights)) {
      cursor_.corrupt(
          field + " (shape)",
          at,
          "dimensions of at least 1 whose product is below 2^63",
          std::to_string(size));
    }
    tensor.ne[static_cast<size_t>(i)] = static_cast<int64_t>(size);
  }
}

void GgufParser::read_type(GgufTensor& tensor, const std::string& field) {
  const int64_t start = cursor_.offset();
  const auto id = cursor_.read<uint32_t>(field, " (type)");
  const GgufTypeInfo* info = find_gguf_type(id);
  if (info == nullptr) {
    const char* known = gguf_type_name(id);
    cursor_.unsupported(
        field + " (type)",
        start,
        "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K or Q6_K",
        known != nullptr ? known : "type " + std::to_string(id));
  }
  tensor.type = info->type;
  if (tensor.ne[0] % info->block != 0) {
    cursor_.corrupt(
        field + " (shape)",
        start - 8 * tensor.dims,
        std::string("rows of a multiple of ") + std::to_string(info->block) +
            " weights for " + info->name,
        std::to_string(tensor.ne[0]));
  }
  const int64_t blocks = tensor.ne[0] / info->block * tensor.rows();
  if (__builtin_mul_overflow(blocks, info->block_bytes, &tensor.bytes) ||
      tensor.bytes > file_.size()) {
    cursor_.corrupt(
        field + " (shape)",
        start - 8 * tensor.dims,
        "data that fits in the file's " + std::to_string(file_.size()) +
            " bytes",
        std::to_string(blocks) + " blocks of " +
            std::to_string(info->block_bytes) + " bytes");
  }
}

void GgufParser::read_offset(GgufTensor& tensor, const std::string& field) {
  const int64_t start = cursor_.offset();
  const auto offset = cursor_.read<uint64_t>(field, " (data offset)");
  const auto alignment = static_cast<uint64_t>(file_.alignment_);
  if (offset % alignment != 0) {
    cursor_.corrupt(
        field + " (data offset)",
        start,
        "a multiple of the alignment " + std::to_string(alignment),
        std::to_string(offset));
  }
  if (offset > static_cast<uint64_t>(file_.size())) {
    cursor_.corrupt(
        field + " (data offset)",
        start,
        "at most the file's size " + std::to_string(file_.size()),
        std::to_string(offset));
  }
  // Relative to the start of the data, known once all tensors are read.
  tensor.offset = static_cast<int64_t>(offset);
}

int64_t GgufParser::offset_field(const GgufTensor& tensor) const {
  const char* file = reinterpret_cast<const char*>(file_.bytes_.data());
  // The name, then the number of dimensions, the dimensions and the type.
  return tensor.name.data() - file + static_cast<int64_t>(tensor.name.size()) +
      4 + 8 * tensor.dims + 4;
}

void GgufParser::place_tensors() {
  file_.data_offset_ = round_up(cursor_.offset(), file_.alignment_);
  for (GgufTensor& tensor : file_.tensors_) {
    tensor.offset += file_.data_offset_;
    const int64_t end = tensor.offset + tensor.bytes;
    if (end > file_.size()) {
      cursor_.corrupt(
          "tensor " + quoted_text(tensor.name) + " (data offset)",
          offset_field(tensor),
          "data that ends at most at the file's end " +
              std::to_string(file_.size()),
          "an end at " + std::to_string(end));
    }
  }
}

void GgufParser::index_tensors() {
  const std::vector<GgufTensor>& tensors = file_.tensors_;
  std::vector<uint32_t>& order = file_.by_name_;
  order.resize(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  // By place first: neighbours in the file must not share bytes.
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return tensors[a].offset < tensors[b].offset;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const GgufTensor& before = tensors[order[i - 1]];
    const GgufTensor& after = tensors[order[i]];
    if (before.offset + before.bytes > after.offset) {
      cursor_.corrupt(
          "tensor " + quoted_text(after.name) + " (data offset)",
          offset_field(after),
          "data behind that of tensor " + quoted_text(before.name) +
              ", which ends at " + std::to_string(before.offset + before.bytes),
          "data from " + std::to_string(after.offset));
    }
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return tensors[a].name != tensors[b].name
        ? tensors[a].name < tensors[b].name
        : a < b;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const GgufTensor& first = tensors[order[i - 1]];
    const GgufTensor& again = tensors[order[i]];
    if (first.name == again.name) {
      cursor_.corrupt(
          "tensor " + quoted_text(again.name),
          offset_field(again),
          "a name once",
          "it again, first for the data at " + std::to_string(first.offset));
    }
  }
}

} // namespace holdfast
