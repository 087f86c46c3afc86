// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/proto_reader.h"

#include <bit>
#include <utility>

#include "holdfast/base/status.h"

namespace holdfast {

ProtoReader::ProtoReader(
    std::string_view message,
    std::string file,
    size_t offset)
    : message_(message), file_(std::move(file)), offset_(offset) {}

void ProtoReader::complain(const std::string& text) const {
  throw Error(
      ErrorCode::kCorrupt,
      file_ + ": at byte " + std::to_string(offset_ + place_) + ": expected " +
          text);
}

bool ProtoReader::next() {
  if (place_ == message_.size()) {
    return false;
  }
  const uint64_t key = read_varint();
  number_ = key >> 3;
  wire_ = static_cast<Wire>(key & 7);
  if (number_ == 0) {
    complain("a field's number, got 0");
  }
  switch (wire_) {
    case Wire::kVarint:
      value_ = read_varint();
      return true;
    case Wire::kFixed64:
      value_ = read_fixed(8);
      return true;
    case Wire::kFixed32:
      value_ = read_fixed(4);
      return true;
    case Wire::kBytes: {
      const uint64_t size = read_varint();
      if (size > message_.size() - place_) {
        complain(
            std::to_string(size) + " bytes, got " +
            std::to_string(message_.size() - place_));
      }
      bytes_ = message_.substr(place_, size);
      place_ += size;
      return true;
    }
  }
  complain("a wire type of 0, 1, 2 or 5, got " + std::to_string(key & 7));
}

uint64_t ProtoReader::read_varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (place_ == message_.size()) {
      complain("the rest of a number, got the end");
    }
    const auto byte = static_cast<uint8_t>(message_[place_++]);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  complain("a number of at most 10 bytes, got more");
}

uint64_t ProtoReader::read_fixed(size_t size) {
  if (message_.size() - place_ < size) {
    complain("the rest of a number, got the end");
  }
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= uint64_t{static_cast<uint8_t>(message_[place_++])} << (8 * i);
  }
  return value;
}

void ProtoReader::expect_wire(Wire wire, const char* name) const {
  if (wire_ != wire) {
    complain(
        "another kind of value before, of " + std::string(name) +
        ", got wire type " + std::to_string(static_cast<int>(wire_)));
  }
}

uint64_t ProtoReader::varint(const char* name) const {
  expect_wire(Wire::kVarint, name);
  return value_;
}

int64_t ProtoReader::integer(const char* name) const {
  return static_cast<int64_t>(varint(name));
}

bool ProtoReader::boolean(const char* name) const {
  return varint(name) != 0;
}

float ProtoReader::number_f32(const char* name) const {
  expect_wire(Wire::kFixed32, name);
  return std::bit_cast<float>(static_cast<uint32_t>(value_));
}

std::string_view ProtoReader::bytes(const char* name) const {
  expect_wire(Wire::kBytes, name);
  return bytes_;
}

ProtoReader ProtoReader::message(const char* name) const {
  const std::string_view inner = bytes(name);
  return {inner, file_, offset_ + place_ - inner.size()};
}

} // namespace holdfast
