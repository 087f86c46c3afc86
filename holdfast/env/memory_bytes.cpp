// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/memory_bytes.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace holdfast {

namespace {

int64_t pages_up(int64_t bytes) {
  return (bytes + kMemoryPageBytes - 1) / kMemoryPageBytes;
}

} // namespace

MemoryBytes::MemoryBytes(PageVector bytes)
    : now_(std::make_shared<PageVector>(bytes)),
      size_(static_cast<int64_t>(bytes.size())),
      stored_(std::move(bytes)) {
  for (int64_t page = 0; page < pages_up(size_); ++page) {
    const auto begin = stored_.begin() + page * kMemoryPageBytes;
    const auto end =
        stored_.begin() + std::min((page + 1) * kMemoryPageBytes, size_);
    set_page(page, std::any_of(begin, end, [](std::byte b) {
               return b != std::byte{0};
             }));
  }
}

int64_t MemoryBytes::growth(int64_t offset, int64_t length) const {
  int64_t pages = 0;
  for (int64_t page = offset / kMemoryPageBytes;
       length > 0 && page < pages_up(offset + length);
       ++page) {
    const bool used = page < static_cast<int64_t>(used_.size()) &&
        used_[static_cast<size_t>(page)];
    pages += used ? 0 : 1;
  }
  return pages * kMemoryPageBytes;
}

void MemoryBytes::set_page(int64_t page, bool used) {
  const auto index = static_cast<size_t>(page);
  if (index >= used_.size()) {
    if (!used) {
      return;
    }
    used_.resize(index + 1, false);
  }
  pages_ += static_cast<int64_t>(used) - static_cast<int64_t>(used_[index]);
  used_[index] = used;
}

void MemoryBytes::read(int64_t offset, std::span<std::byte> into) const {
  std::copy_n(now_->begin() + offset, into.size(), into.begin());
}

void MemoryBytes::reserve(int64_t size) {
  const auto needed = static_cast<size_t>(size);
  if (needed > now_->size()) {
    // A new buffer: mappings keep the old one.
    auto larger =
        std::make_shared<PageVector>(std::max(needed, 2 * now_->size()));
    std::copy_n(now_->begin(), size_, larger->begin());
    now_ = std::move(larger);
  }
}

void MemoryBytes::zero(int64_t begin, int64_t end) {
  if (begin < end) {
    std::fill(now_->begin() + begin, now_->begin() + end, std::byte{0});
  }
}

void MemoryBytes::write(int64_t offset, std::span<const std::byte> from) {
  const auto length = static_cast<int64_t>(from.size());
  if (length == 0) {
    return;
  }
  reserve(offset + length);
  std::copy(from.begin(), from.end(), now_->begin() + offset);
  size_ = std::max(size_, offset + length);
  for (int64_t page = offset / kMemoryPageBytes;
       page < pages_up(offset + length);
       ++page) {
    set_page(page, true);
  }
  changes_.push_back(
      {Change::Kind::kWrite, offset, length, {from.begin(), from.end()}});
}

void MemoryBytes::truncate(int64_t size) {
  reserve(size);
  zero(size, size_);
  for (int64_t page = pages_up(size); page < static_cast<int64_t>(used_.size());
       ++page) {
    set_page(page, false);
  }
  size_ = size;
  changes_.push_back({Change::Kind::kTruncate, size, 0, {}});
}

void MemoryBytes::punch(int64_t offset, int64_t length) {
  const int64_t end = std::min(offset + length, size_);
  zero(offset, end);
  for (int64_t page = pages_up(offset);
       (page + 1) * kMemoryPageBytes <= offset + length &&
       page < static_cast<int64_t>(used_.size());
       ++page) {
    set_page(page, false);
  }
  if (offset < end) {
    changes_.push_back({Change::Kind::kPunch, offset, end - offset, {}});
  }
}

int64_t MemoryBytes::Change::size_after(int64_t size_before) const {
  switch (kind) {
    case Kind::kWrite:
      return std::max(size_before, offset + length);
    case Kind::kTruncate:
      return offset;
    case Kind::kPunch:
      break;
  }
  return size_before;
}

int64_t MemoryBytes::Change::end(int64_t size) const {
  return kind == Kind::kTruncate ? std::max(offset, size) : offset + length;
}

void MemoryBytes::Change::put(int64_t begin, int64_t end, PageVector& file)
    const {
  if (kind == Kind::kWrite) {
    if (static_cast<int64_t>(file.size()) < end) {
      file.resize(static_cast<size_t>(end));
    }
    std::copy_n(
        bytes.begin() + (begin - offset), end - begin, file.begin() + begin);
    return;
  }
  end = std::min(end, static_cast<int64_t>(file.size()));
  if (begin < end) {
    std::fill(file.begin() + begin, file.begin() + end, std::byte{0});
  }
}

std::pair<int64_t, int64_t> MemoryBytes::last_sectors() const {
  if (changes_.empty()) {
    return {0, 0};
  }
  const Change& last = changes_.back();
  const int64_t first = last.offset / kSectorBytes;
  const int64_t end = last.end(static_cast<int64_t>(stored_.size()));
  return {first, (end + kSectorBytes - 1) / kSectorBytes - first};
}

PageVector MemoryBytes::after_loss(const Survives& survives) const {
  PageVector file = stored_; // zeros behind `size`
  auto size = static_cast<int64_t>(stored_.size());
  // What was cut by a truncation that is lost still has its old blocks.
  auto old_blocks = std::numeric_limits<int64_t>::max();
  for (int64_t number = 0; number < changes(); ++number) {
    const Change& change = changes_[static_cast<size_t>(number)];
    int64_t end = change.end(static_cast<int64_t>(file.size()));
    if (survives(number, -1)) {
      size = change.size_after(size);
    }
    if (change.kind == Change::Kind::kTruncate) {
      // Whole blocks go with the size; the rest of one is zeroed in place.
      const int64_t blocks = pages_up(change.offset) * kMemoryPageBytes;
      if (survives(number, -1)) {
        change.put(blocks, end, file);
      } else {
        old_blocks = std::min(old_blocks, blocks);
      }
      end = std::min(end, blocks);
    }
    end = std::min(end, old_blocks);
    for (int64_t begin = change.offset; begin < end;) {
      const int64_t sector = begin / kSectorBytes;
      const int64_t next = std::min(end, (sector + 1) * kSectorBytes);
      if (survives(number, sector)) {
        change.put(begin, next, file);
      }
      begin = next;
    }
  }
  file.resize(static_cast<size_t>(size));
  return file;
}

void MemoryBytes::sync() {
  for (const Change& change : changes_) {
    const auto before = static_cast<int64_t>(stored_.size());
    change.put(change.offset, change.end(before), stored_);
    stored_.resize(static_cast<size_t>(change.size_after(before)));
  }
  changes_.clear();
}

void MemoryBytes::lose() {
  changes_.clear();
}

std::shared_ptr<const std::byte> MemoryBytes::map(int64_t offset) const {
  static const std::byte nothing{};
  const bool empty = offset >= static_cast<int64_t>(now_->size());
  return {now_, empty ? &nothing : now_->data() + offset};
}

} // namespace holdfast
