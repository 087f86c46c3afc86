// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The fields of a protobuf message, one by one, over bytes that are checked as
// they are read: no field reaches beyond its message. Throws Error kCorrupt
// with the place. One thread; the bytes must outlive it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

class ProtoReader {
 public:
  enum class Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  /// `offset`: of the message in its file.
  ProtoReader(std::string_view message, std::string file, size_t offset = 0);

  /// Goes to the next field; false at the message's end.
  bool next();

  uint64_t number() const {
    return number_;
  }
  // The field's value; kCorrupt where it is of another kind. `name` tells it.
  uint64_t varint(const char* name) const;
  int64_t integer(const char* name) const; // int32: negative ones are 10 bytes
  bool boolean(const char* name) const;
  float number_f32(const char* name) const;
  std::string_view bytes(const char* name) const;
  ProtoReader message(const char* name) const;

 private:
  uint64_t read_varint();
  uint64_t read_fixed(size_t size);
  void expect_wire(Wire wire, const char* name) const;
  [[noreturn]] void complain(const std::string& text) const;

  std::string_view message_;
  std::string file_;
  size_t offset_;
  size_t place_ = 0;
  uint64_t number_ = 0;
  Wire wire_ = Wire::kVarint;
  uint64_t value_ = 0;
  std::string_view bytes_;
};

} // namespace holdfast
