// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "folder_scan.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "holdfast/base/check.h"

namespace holdfast::app {

namespace {

constexpr size_t kChunk = size_t{4} << 20;

uint64_t head_of(const char* bytes) {
  uint64_t head = 0;
  std::memcpy(&head, bytes, sizeof(head));
  return head;
}

struct ScannedFile {
  std::string path;
  std::optional<std::string> problem;
};

std::vector<ScannedFile> files_below(const std::string& folder, Bytes& total) {
  namespace fs = std::filesystem;
  std::vector<ScannedFile> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end;
       !error && at != end;
       at.increment(error)) {
    if (at->is_symlink()) {
      files.push_back({at->path(), "a link, which is not followed"});
    } else if (at->is_regular_file()) {
      files.push_back({at->path(), std::nullopt});
      std::error_code gone; // of a file of another process
      const auto size = at->file_size(gone);
      total += gone ? Bytes() : Bytes(static_cast<int64_t>(size));
    }
  }
  if (error) {
    files.push_back({folder, error.message()});
  }
  return files;
}

} // namespace

void ByteSearch::add(std::string text) {
  expect(
      text.size() >= kShortest,
      "[ByteSearch] expected at least 16 bytes, got fewer");
  const uint64_t head = head_of(text.data());
  auto& same = by_head_[head];
  if (std::ranges::any_of(
          same, [&](size_t other) { return texts_[other] == text; })) {
    return;
  }
  same.push_back(texts_.size());
  heads_[slot(head)] = true;
  longest_ = std::max(longest_, text.size());
  texts_.push_back(std::move(text));
}

void ByteSearch::in(
    std::string_view bytes,
    const std::function<void(size_t, const std::string&)>& found) const {
  for (size_t at = 0; at + kShortest <= bytes.size(); ++at) {
    const uint64_t head = head_of(bytes.data() + at);
    if (!heads_[slot(head)]) {
      continue;
    }
    const auto same = by_head_.find(head);
    if (same == by_head_.end()) {
      continue;
    }
    for (const size_t text : same->second) {
      if (bytes.substr(at).starts_with(texts_[text])) {
        found(at, texts_[text]);
      }
    }
  }
}

ByteSearch
ByteSearch::without_those_in(const std::vector<std::string>& others) const {
  std::unordered_map<std::string, bool> there;
  for (const std::string& other : others) {
    in(other, [&](size_t, const std::string& text) { there[text] = true; });
  }
  ByteSearch rest;
  for (const std::string& text : texts_) {
    if (!there.contains(text)) {
      rest.add(text);
    }
  }
  return rest;
}

ScanReport scan_folder(
    const std::string& folder,
    const ByteSearch& search,
    const std::function<void(Bytes, Bytes)>& progress) {
  ScanReport report;
  Bytes total;
  std::string buffer;
  for (const ScannedFile& file : files_below(folder, total)) {
    if (file.problem) {
      report.unread.push_back(file.path + ": " + *file.problem);
      continue;
    }
    std::ifstream in(file.path, std::ios::binary);
    std::error_code error;
    if (!in && !std::filesystem::exists(file.path, error)) {
      continue; // gone meanwhile
    }
    bool found = false;
    size_t kept = 0; // of the chunk before, where a text may begin
    buffer.clear();
    while (in) {
      buffer.erase(0, buffer.size() - kept);
      buffer.resize(kept + kChunk);
      in.read(buffer.data() + kept, kChunk);
      const auto got = static_cast<size_t>(in.gcount());
      buffer.resize(kept + got);
      report.bytes += Bytes(static_cast<int64_t>(got));
      search.in(buffer, [&](size_t at, const std::string& text) {
        if (at + text.size() > kept) { // else it was found before
          ++report.found;
          found = true;
        }
      });
      kept = std::min(buffer.size(), std::max(search.longest(), size_t{1}) - 1);
      progress(report.bytes, std::max(total, report.bytes));
    }
    if (!in.eof()) {
      report.unread.push_back(file.path + ": it could not be read");
      continue;
    }
    ++report.files;
    if (found) {
      report.files_found.push_back(file.path);
    }
  }
  return report;
}

} // namespace holdfast::app
