// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Fills a GgufFile from its bytes, front to back: header, metadata, tensor
// table, then what only the whole can tell (alignment, duplicates, overlaps).
// Throws Error on the first fault. Memory grows only with entries that were
// read, and both tables have a limit. Internal to the reader; one thread.

#pragma once

#include <cstdint>
#include <string>

#include "holdfast/formats/gguf.h"
#include "holdfast/formats/gguf_cursor.h"

namespace holdfast {

class GgufParser {
 public:
  /// The most entries of each table: far above any model, so that a hostile
  /// file cannot make the tables larger than a few MiB.
  static constexpr uint64_t kMaxKeys = 65536;
  static constexpr uint64_t kMaxTensors = 65536;

  explicit GgufParser(GgufFile& file)
      : file_(file), cursor_(file.bytes_, file.name_) {}
  void parse();

 private:
  void read_header();
  uint64_t read_count(const char* field, uint64_t smallest, uint64_t limit);
  void read_key();
  void read_value(GgufKey& key);
  void read_array(GgufKey& key);
  void check_booleans(const GgufKey& key) const;
  void sort_keys();
  void read_alignment();
  void read_tensor();
  void read_shape(GgufTensor& tensor, const std::string& field);
  void read_type(GgufTensor& tensor, const std::string& field);
  void read_offset(GgufTensor& tensor, const std::string& field);
  /// Where the tensor's data offset stands in the file.
  int64_t offset_field(const GgufTensor& tensor) const;
  void place_tensors();
  void index_tensors();

  GgufFile& file_;
  GgufCursor cursor_;
  uint64_t tensor_count_ = 0;
  uint64_t key_count_ = 0;
};

} // namespace holdfast
