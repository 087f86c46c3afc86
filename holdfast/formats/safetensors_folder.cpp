// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/safetensors_folder.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "holdfast/base/quoted_text.h"
#include "holdfast/env/folder_file.h"
#include "holdfast/formats/safetensors_index.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSingle = "model.safetensors";
constexpr int64_t kLargestIndex = int64_t{64} << 20;
constexpr int kMostShards = 99999; // five digits

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// "model-00002-of-00003.safetensors".
std::string numbered(int number, int count) {
  char name[48];
  std::snprintf(
      name, sizeof name, "model-%05d-of-%05d.safetensors", number, count);
  return name;
}

/// N of a file "model-xxxxx-of-0000N.safetensors" in the folder; 0: none.
int shard_count(const std::string& folder) {
  int most = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    int number = 0, count = 0;
    if (std::sscanf(
            name.c_str(), "model-%5d-of-%5d.safetensors", &number, &count) ==
            2 &&
        count > 0 && count <= kMostShards && name == numbered(number, count)) {
      most = std::max(most, count);
    }
  }
  return most;
}

/// What the index says, or nothing where the folder has none.
std::optional<SafetensorsIndex> index_of(const std::string& folder) {
  const auto path = file_in_folder(folder, kSafetensorsIndex);
  if (path.status().code() == ErrorCode::kNotFound) {
    return std::nullopt;
  }
  const MappedFile file = MappedFile::open(path.value()).value();
  const std::string shown = folder + "/" + kSafetensorsIndex;
  if (std::ssize(file.bytes()) > kLargestIndex) {
    throw Error(
        ErrorCode::kCorrupt,
        shown + ": expected at most 64 MiB, got " +
            std::to_string(file.bytes().size()) + " bytes");
  }
  return parse_safetensors_index(text_of(file.bytes()), shown).value();
}

/// The names of the model's files, in order.
std::set<std::string>
files_of(const std::string& folder, const SafetensorsIndex* index) {
  std::set<std::string> names;
  if (index != nullptr) {
    for (const auto& [tensor, file] : *index) {
      names.insert(file);
    }
    return names;
  }
  const auto single = file_in_folder(folder, kSingle);
  if (single.ok() || single.status().code() != ErrorCode::kNotFound) {
    names.insert(kSingle);
    return names;
  }
  const int count = shard_count(folder);
  for (int i = 1; i <= count; ++i) {
    names.insert(numbered(i, count));
  }
  if (names.empty()) {
    throw Error(
        ErrorCode::kNotFound,
        folder +
            ": expected model.safetensors, or shards with "
            "model.safetensors.index.json, got neither");
  }
  return names;
}

/// The tensors that the index names are those that are there.
void require_as_indexed(
    const std::string& folder,
    const SafetensorsIndex& index,
    const SafetensorsFolder::Tensors& tensors) {
  const std::string where = folder + "/" + kSafetensorsIndex;
  for (const auto& [name, file] : index) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || found->second.shard->name != file) {
      throw Error(
          ErrorCode::kCorrupt,
          folder + "/" + file + ": expected tensor " + quoted_text(name) +
              ", which the index puts there, got " +
              (found == tensors.end() ? "none"
                                      : "it in " + found->second.shard->name));
    }
  }
  for (const auto& [name, tensor] : tensors) {
    if (!index.contains(name)) {
      throw Error(
          ErrorCode::kCorrupt,
          where + ": weight_map: expected every tensor of " +
              tensor.shard->name + ", got none named " + quoted_text(name));
    }
  }
}

} // namespace

std::span<const std::byte> SafetensorsFolder::Tensor::bytes() const {
  return shard->file.bytes().subspan(
      static_cast<size_t>(stored.offset.get()),
      static_cast<size_t>(stored.bytes.get()));
}

void SafetensorsFolder::Tensor::drop() const {
  shard->file.drop(stored.offset, stored.bytes);
}

void SafetensorsFolder::add(
    const std::string& folder,
    const std::string& name) {
  const std::string path = file_in_folder(folder, name).value();
  shards_.push_back(std::make_unique<const Shard>(Shard{
      .name = name,
      .shown = folder + "/" + name,
      .file = MappedFile::open(path).value()}));
  const Shard& shard = *shards_.back();
  const auto header =
      parse_safetensors(shard.file.bytes(), shard.shown).value();
  for (const auto& [tensor, stored] : header.tensors) {
    const auto [at, added] = tensors_.emplace(tensor, Tensor{stored, &shard});
    if (!added) {
      throw Error(
          ErrorCode::kCorrupt,
          shard.shown + ": expected each tensor once, got " +
              quoted_text(tensor) + " also in " + at->second.shard->name);
    }
  }
}

Result<SafetensorsFolder> SafetensorsFolder::open(const std::string& folder) {
  try {
    const auto index = index_of(folder);
    SafetensorsFolder result;
    for (const std::string& name :
         files_of(folder, index ? &*index : nullptr)) {
      result.add(folder, name);
    }
    if (index) {
      require_as_indexed(folder, *index, result.tensors_);
    }
    return result;
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast
