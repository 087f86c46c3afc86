// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A GGUF model file, read in place: metadata and tensors are views into the
// mapping, valid while the GgufFile (or the bytes it was parsed from) lives.
// Everything is checked at open: afterwards no view reaches outside the file.
// Every complaint is one line, "<file>: <field> at offset N: expected ...,
// got ...". docs/gguf.md says what is read and what is refused.
// Threads: all const members from any thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/env/mapped_file.h"
#include "holdfast/formats/gguf_array.h"
#include "holdfast/formats/gguf_quant.h"

namespace holdfast {

/// One metadata entry.
struct GgufKey {
  std::string_view name;
  GgufValue type;
  GgufValue element; // kArray: the type of its elements
  int64_t count = 1; // kArray: its elements
  int64_t offset = 0; // of the value; of the first element for kArray
};

struct GgufTensor {
  std::string_view name;
  GgufType type;
  int dims = 0; // 1 to 4
  /// The format's order: ne[0] weights make a row; unused ones are 1.
  std::array<int64_t, 4> ne{1, 1, 1, 1};
  int64_t offset = 0; // from the start of its part
  int64_t bytes = 0;
  int part = 0; // of the files of a model in parts, which of them holds it

  int64_t rows() const {
    return ne[1] * ne[2] * ne[3];
  }
  int64_t row_bytes() const {
    return bytes / rows();
  }
};

class GgufFile {
 public:
  /// Maps and checks a file. Of a model in parts, "...-00001-of-0000N.gguf",
  /// `path` is the first; the others lie beside it, and their tensors are this
  /// one's. Errors: those of MappedFile::open, kCorrupt where the bytes
  /// contradict the format or a part the others, kUnsupported for what holdfast
  /// does not read (other versions, nested arrays, other tensor types).
  static Result<GgufFile> open(const std::string& path);
  /// The same over bytes that outlive the result; `name` stands for the file.
  /// kUnsupported for one of several parts.
  static Result<GgufFile>
  parse(std::span<const std::byte> bytes, std::string name);

  /// The path, or the name given to parse().
  const std::string& name() const {
    return name_;
  }
  /// Of all parts.
  int64_t size() const;
  /// 2 or 3.
  int version() const {
    return version_;
  }
  int64_t alignment() const {
    return alignment_;
  }

  // Metadata. An absent key gives nothing; a key of another type throws Error
  // (kCorrupt), as does an integer that int64_t cannot hold.

  /// Any integer type.
  std::optional<int64_t> integer(std::string_view key) const;
  /// F32 or F64.
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  /// The bytes as they are; UTF-8 is not checked.
  std::optional<std::string_view> text(std::string_view key) const;
  /// Name the value before a range-for: the optional itself is a temporary.
  std::optional<GgufStrings> texts(std::string_view key) const;
  /// An array of F32.
  std::optional<GgufFloats> numbers(std::string_view key) const;
  /// An array of any integer type but U64, or of booleans (0 or 1).
  std::optional<GgufIntegers> integers(std::string_view key) const;

  /// The entry, or nullptr.
  const GgufKey* find(std::string_view key) const;
  /// All entries, sorted by name.
  std::span<const GgufKey> keys() const {
    return keys_;
  }

  /// All tensors in the file's order.
  std::span<const GgufTensor> tensors() const {
    return tensors_;
  }
  /// The tensor of that name, or nullptr.
  const GgufTensor* tensor(std::string_view name) const;
  /// The tensor's bytes; it must be one of this file's.
  std::span<const std::byte> data(const GgufTensor& tensor) const {
    return part(tensor.part)
        .bytes_.subspan(
            static_cast<size_t>(tensor.offset),
            static_cast<size_t>(tensor.bytes));
  }
  /// How many files the model is in, and each of them: 0 is this one.
  int parts() const {
    return 1 + static_cast<int>(rest_.size());
  }
  const GgufFile& part(int index) const {
    return index == 0 ? *this : rest_[static_cast<size_t>(index - 1)];
  }
  /// Where the first tensor may begin: the end of the header, aligned.
  int64_t data_offset() const {
    return data_offset_;
  }
  /// From there to the end of the file, in all parts.
  int64_t data_bytes() const;
  /// The mapping, to prefetch or drop ranges; nullptr after parse().
  const MappedFile* mapping() const {
    return mapping_ ? &*mapping_ : nullptr;
  }

  /// An Error for a value that is well formed but wrong for its reader:
  /// "<file>: <key> at offset N: expected <expected>, got <got>" (no offset
  /// where the key is absent).
  Error refusal(
      std::string_view key,
      std::string_view expected,
      std::string_view got) const;

 private:
  friend class GgufParser;
  friend class GgufParts;
  GgufFile() = default;

  const GgufKey* find(std::string_view key, GgufValue type) const;
  const GgufKey* find_array(std::string_view key, const char* expected) const;

  std::optional<MappedFile> mapping_;
  std::span<const std::byte> bytes_;
  std::string name_;
  int version_ = 0;
  int64_t alignment_ = 32;
  int64_t data_offset_ = 0;
  std::vector<GgufKey> keys_;
  std::vector<GgufTensor> tensors_;
  std::vector<uint32_t> by_name_; // indices into tensors_, sorted by name
  std::vector<GgufFile> rest_; // the parts behind the first
};

} // namespace holdfast
