// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/gguf_parts.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <utility>

#include "holdfast/base/quoted_text.h"
#include "holdfast/env/folder_file.h"
#include "holdfast/formats/gguf_cursor.h"
#include "holdfast/formats/gguf_parser.h"

namespace holdfast {

namespace {

constexpr const char* kCount = "split.count";
constexpr const char* kNumber = "split.no";
constexpr const char* kTensors = "split.tensors.count";
constexpr int64_t kMostParts = 1000;

/// What a file's name says: number `number` of `count`, from 1.
struct PartName {
  std::string stem; // before "-00001-of-00003.gguf"
  int number = 1;
  int count = 1; // 1: the name says nothing

  std::string of(int which) const {
    char end[32];
    std::snprintf(end, sizeof end, "-%05d-of-%05d.gguf", which, count);
    return stem + end;
  }
};

PartName name_of(const std::string& name) {
  constexpr size_t kEnd = std::string_view("-00001-of-00003.gguf").size();
  PartName result;
  if (name.size() < kEnd) {
    return result;
  }
  const std::string end = name.substr(name.size() - kEnd);
  int number = 0, count = 0;
  if (std::sscanf(end.c_str(), "-%5d-of-%5d.gguf", &number, &count) == 2 &&
      number >= 0 && count > 1) {
    const PartName said{name.substr(0, name.size() - kEnd), number, count};
    if (said.of(number) == name) {
      return said;
    }
  }
  return result;
}

int64_t count_of(const GgufFile& file) {
  return file.integer(kCount).value_or(1);
}

void require_integer(
    const GgufFile& file,
    const char* key,
    int64_t expected,
    const std::string& why) {
  const auto got = file.integer(key);
  if (got != expected) {
    throw file.refusal(
        key,
        std::to_string(expected) + ", " + why,
        got ? std::to_string(*got) : "no such key");
  }
}

} // namespace

void GgufParts::require_whole(const GgufFile& file) {
  if (const int64_t count = count_of(file); count > 1) {
    throw Error(
        ErrorCode::kUnsupported,
        gguf_complaint(
            file.name(),
            kCount,
            file.find(kCount)->offset,
            "a model in a single file",
            "one of " + std::to_string(count) + " files"));
  }
  if (const int count = name_of(file.name()).count; count > 1) {
    throw Error(
        ErrorCode::kUnsupported,
        gguf_complaint(
            file.name(),
            "the file's name",
            0,
            "a model in a single file",
            "one of " + std::to_string(count) + " files"));
  }
}

GgufFile GgufParts::open_one(const std::string& path, const std::string& name) {
  GgufFile file;
  file.mapping_ = MappedFile::open(path).value();
  file.bytes_ = file.mapping_->bytes();
  file.name_ = name;
  GgufParser(file).parse();
  return file;
}

GgufFile GgufParts::open(const std::string& path) {
  GgufFile file = open_one(path, path);
  const PartName name = name_of(path);
  if (count_of(file) <= 1 && name.count == 1) {
    return file;
  }
  if (name.count == 1) {
    require_whole(file); // it says that it is none
  }
  require_integer(file, kCount, name.count, "as the file's name says");
  if (name.count > kMostParts) {
    throw file.refusal(kCount, "at most 1000", std::to_string(name.count));
  }
  require_integer(
      file, kNumber, 0, "the first of the parts (" + name.of(1) + ")");
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  for (int i = 1; i < name.count; ++i) {
    const std::filesystem::path part = name.of(i + 1);
    const std::string real =
        file_in_folder(
            folder.empty() ? "." : folder.string(), part.filename().string())
            .value();
    add_part(file, open_one(real, part), i);
  }
  require_integer(
      file,
      kTensors,
      std::ssize(file.tensors_),
      "as many as the parts hold together");
  index(file);
  return file;
}

void GgufParts::add_part(GgufFile& first, GgufFile part, int index) {
  require_integer(part, kCount, count_of(first), "as in the first part");
  require_integer(part, kNumber, index, "as the file's name says");
  if (first.tensors_.size() + part.tensors_.size() > GgufParser::kMaxTensors) {
    throw part.refusal(
        "GGUF.tensor_count", "at most 65536 tensors in all parts", "more");
  }
  for (GgufTensor tensor : part.tensors_) {
    tensor.part = index;
    first.tensors_.push_back(tensor);
  }
  // The bytes do not move with the mapping that owns them.
  first.rest_.push_back(std::move(part));
}

void GgufParts::index(GgufFile& first) {
  const std::vector<GgufTensor>& tensors = first.tensors_;
  std::vector<uint32_t>& order = first.by_name_;
  order.resize(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(
      order, {}, [&](uint32_t at) { return tensors[at].name; });
  for (size_t i = 1; i < order.size(); ++i) {
    const GgufTensor& before = tensors[order[i - 1]];
    const GgufTensor& again = tensors[order[i]];
    if (before.name == again.name) {
      throw Error(
          ErrorCode::kCorrupt,
          first.part(again.part).name() + ": tensor " +
              quoted_text(again.name) +
              ": expected it in one part, got it in " +
              first.part(before.part).name() + " too");
    }
  }
}

} // namespace holdfast
