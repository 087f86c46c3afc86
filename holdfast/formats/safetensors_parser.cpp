// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The header: JSON of one shape, read event by event, so that nothing of it is
// kept but what belongs there. The first fault is thrown as an Error; the
// public function turns it into a Status.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "holdfast/base/quoted_text.h"
#include "holdfast/formats/gguf_array.h"
#include "holdfast/formats/json_bytes.h"
#include "holdfast/formats/safetensors.h"

namespace holdfast {

namespace {

constexpr const char* kMetadata = "__metadata__";
constexpr size_t kMostDims = 8;

struct TypeInfo {
  const char* name;
  TensorType type;
  int64_t bytes;
};
constexpr TypeInfo kTypes[] = {
    {"F32", TensorType::kF32, 4},
    {"F16", TensorType::kF16, 2},
    {"BF16", TensorType::kBF16, 2},
    {"U32", TensorType::kU32, 4},
    {"I32", TensorType::kI32, 4},
    {"I64", TensorType::kI64, 8},
    {"BOOL", TensorType::kBool, 1},
    {"U8", TensorType::kOther, 1},
    {"I8", TensorType::kOther, 1},
    {"U16", TensorType::kOther, 2},
    {"I16", TensorType::kOther, 2},
    {"U64", TensorType::kOther, 8},
    {"F64", TensorType::kOther, 8},
    {"C64", TensorType::kOther, 8},
};

/// A tensor as its JSON object says, before it is believed.
struct Claim {
  std::string type;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> offsets;
  bool has_shape = false;
};

class Events : public nlohmann::json_sax<nlohmann::json> {
 public:
  Events(std::string_view file, Bytes data_begin, Bytes data_bytes)
      : file_(file), data_begin_(data_begin), data_bytes_(data_bytes) {}

  SafetensorsHeader take() {
    require_apart();
    return std::move(header_);
  }

  bool key(string_t& key) override {
    switch (depth_) {
      case 1:
        name_ = key;
        if (!names_.emplace(name_, true).second) {
          complain("each name once", quoted_text(name_) + " again");
        }
        claim_ = Claim();
        return true;
      default:
        field_ = key;
        return true;
    }
  }
  bool string(string_t& value) override {
    if (depth_ == 2 && name_ == kMetadata) {
      if (!header_.metadata.emplace(field_, value).second) {
        complain("each key of the metadata once", quoted_text(field_));
      }
      return true;
    }
    if (depth_ == 2 && field_ == "dtype" && claim_.type.empty()) {
      claim_.type = value;
      return true;
    }
    complain("a tensor's fields", "a text");
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (list_ == nullptr || list_->size() == kMostDims) {
      complain("at most 8 sizes in a list", std::to_string(value));
    }
    list_->push_back(value);
    return true;
  }
  bool start_object(size_t) override {
    if (list_ != nullptr || depth_ >= 2) {
      complain("an object of tensors", "an object within a tensor");
    }
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    if (depth_ == 1 && name_ != kMetadata) {
      header_.tensors.emplace(name_, believed());
    }
    return true;
  }
  bool start_array(size_t) override {
    const bool shape = field_ == "shape" && !claim_.has_shape;
    const bool offsets = field_ == "data_offsets" && claim_.offsets.empty();
    if (depth_ != 2 || name_ == kMetadata || list_ != nullptr ||
        !(shape || offsets)) {
      complain("a shape and offsets of a tensor, each once", "another list");
    }
    claim_.has_shape = claim_.has_shape || shape;
    list_ = shape ? &claim_.shape : &claim_.offsets;
    return true;
  }
  bool end_array() override {
    list_ = nullptr;
    return true;
  }
  bool null() override {
    // What MLX writes where there is no metadata.
    if (depth_ == 1 && name_ == kMetadata && list_ == nullptr) {
      return true;
    }
    complain("tensors", "null");
  }
  bool boolean(bool) override {
    complain("tensors", "a boolean");
  }
  bool number_integer(number_integer_t) override {
    complain("sizes of 0 or more", "a negative one");
  }
  bool number_float(number_float_t, const string_t&) override {
    complain("whole sizes", "a fraction");
  }
  bool binary(binary_t&) override {
    complain("tensors", "bytes");
  }
  bool parse_error(
      size_t position,
      const std::string&,
      const nlohmann::detail::exception&) override {
    complain("JSON", "other bytes at " + std::to_string(position));
  }

 private:
  [[noreturn]] void
  complain(const std::string& expected, const std::string& got) const {
    const std::string of =
        name_.empty() ? "" : "tensor " + quoted_text(name_) + ": ";
    throw Error(
        ErrorCode::kCorrupt,
        std::string(file_) + ": header: " + of + "expected " + expected +
            ", got " + got);
  }

  StoredTensor believed() const {
    const auto info = std::ranges::find_if(
        kTypes, [&](const TypeInfo& type) { return claim_.type == type.name; });
    if (info == std::end(kTypes)) {
      complain("a type of tensors", quoted_text(claim_.type));
    }
    if (!claim_.has_shape || claim_.offsets.size() != 2) {
      complain("a shape and two offsets", "fewer or more");
    }
    StoredTensor tensor{
        .type = info->type,
        .type_name = info->name,
        .shape = {},
        .offset = {},
        .bytes = {}};
    const auto room = static_cast<uint64_t>(data_bytes_.get());
    uint64_t bytes = static_cast<uint64_t>(info->bytes);
    for (const uint64_t size : claim_.shape) {
      if (size > room || (size > 0 && bytes > room / size)) {
        complain(
            "a shape of at most " + std::to_string(room) + " bytes",
            "a larger one");
      }
      bytes *= size;
      tensor.shape.push_back(static_cast<int64_t>(size));
    }
    const uint64_t begin = claim_.offsets[0];
    const uint64_t end = claim_.offsets[1];
    if (begin > end || end > room || end - begin != bytes) {
      complain(
          std::to_string(bytes) + " bytes within " + std::to_string(room),
          std::to_string(begin) + " to " + std::to_string(end));
    }
    tensor.offset = data_begin_ + Bytes(static_cast<int64_t>(begin));
    tensor.bytes = Bytes(static_cast<int64_t>(bytes));
    return tensor;
  }

  void require_apart() {
    std::vector<const StoredTensor*> order;
    for (const auto& [name, tensor] : header_.tensors) {
      if (tensor.bytes > Bytes()) {
        order.push_back(&tensor);
      }
    }
    std::ranges::sort(order, {}, &StoredTensor::offset);
    name_.clear();
    for (size_t i = 1; i < order.size(); ++i) {
      if (order[i]->offset < order[i - 1]->offset + order[i - 1]->bytes) {
        complain(
            "tensors that do not overlap",
            "two at " + std::to_string(order[i]->offset.get()));
      }
    }
  }

  const std::string_view file_;
  const Bytes data_begin_;
  const Bytes data_bytes_;
  SafetensorsHeader header_;
  std::map<std::string, bool> names_;
  int depth_ = 0; // of objects
  std::string name_;
  std::string field_;
  Claim claim_;
  std::vector<uint64_t>* list_ = nullptr;
};

} // namespace

int64_t StoredTensor::elements() const {
  int64_t count = 1;
  for (const int64_t size : shape) {
    count *= size;
  }
  return count;
}

Result<SafetensorsHeader>
parse_safetensors(std::span<const std::byte> bytes, std::string_view file) {
  uint64_t length = 0;
  const auto size = static_cast<uint64_t>(bytes.size());
  if (size >= sizeof(length)) {
    length = load_unaligned<uint64_t>(bytes.data());
  }
  if (size < sizeof(length) + 2 || length > size - sizeof(length) ||
      length > kMostSafetensorsHeader) {
    return Status(
        ErrorCode::kCorrupt,
        std::string(file) +
            ": expected a header of at most 16 MiB within the file, got " +
            std::to_string(length) + " bytes of " + std::to_string(size));
  }
  const std::string_view json(
      reinterpret_cast<const char*>(bytes.data()) + sizeof(length),
      static_cast<size_t>(length));
  return parse_safetensors_header(json, Bytes(std::ssize(bytes)), file);
}

Result<SafetensorsHeader> parse_safetensors_header(
    std::string_view json,
    Bytes file_bytes,
    std::string_view file) {
  const Bytes begin(8 + std::ssize(json));
  try {
    Events events(file, begin, std::max(file_bytes - begin, Bytes()));
    if (json.empty() || json.front() != '{') {
      return Status(
          ErrorCode::kCorrupt,
          std::string(file) + ": header: expected a JSON object, got none");
    }
    read_json(json, std::string(file) + ": header", events);
    return events.take();
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
