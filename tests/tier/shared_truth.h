// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A Truth in memory that a process and its children share, so that it outlives
// a child that is killed: the last one that was written whole. One writer.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>
#include <string>

#include <sys/mman.h>

#include "tests/tier/crash_support.h"

namespace holdfast::test {

class SharedTruth {
 public:
  SharedTruth() {
    void* memory = ::mmap(
        nullptr,
        sizeof(Pages),
        PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS,
        -1,
        0);
    if (memory == MAP_FAILED) {
      throw std::runtime_error("cannot map shared memory");
    }
    pages_ = new (memory) Pages;
    write({});
  }
  ~SharedTruth() {
    ::munmap(pages_, sizeof(Pages));
  }
  SharedTruth(const SharedTruth&) = delete;
  SharedTruth& operator=(const SharedTruth&) = delete;

  void write(const Truth& truth) {
    text_.clear();
    put(truth.may_evict);
    put(truth.images.size());
    for (const auto& [path, slots] : truth.images) {
      put_text(std::as_bytes(std::span(path)));
      put(slots.size());
      for (const ImageSlot slot : slots) {
        put(slot);
      }
    }
    put(truth.chats.size());
    for (const auto& [name, version] : truth.chats) {
      put_text(std::as_bytes(std::span(name)));
      put(version);
    }
    put(truth.objects.size());
    for (const auto& [key, value] : truth.objects) {
      put_text(std::as_bytes(std::span(key)));
      put_text(std::as_bytes(std::span(value)));
    }
    if (text_.size() > kPage) {
      throw std::runtime_error("a truth that is too long");
    }
    // The page that is not read; then the number that says which one is.
    const int next = pages_->writes.load() + 1;
    std::memcpy(pages_->page[next % 2], text_.data(), text_.size());
    pages_->writes.store(next);
  }

  /// How many there were.
  int writes() const {
    return pages_->writes.load();
  }
  Truth read() const {
    const std::byte* at = pages_->page[pages_->writes.load() % 2];
    Truth truth;
    truth.may_evict = take<bool>(at);
    for (auto left = take<size_t>(at); left > 0; --left) {
      const std::string path = take_text(at);
      Tokens tokens(path.size() / sizeof(int32_t));
      std::memcpy(tokens.data(), path.data(), path.size());
      auto& slots = truth.images[tokens];
      for (auto more = take<size_t>(at); more > 0; --more) {
        slots.insert(take<ImageSlot>(at));
      }
    }
    for (auto left = take<size_t>(at); left > 0; --left) {
      const std::string name = take_text(at);
      truth.chats[name] = take<uint64_t>(at);
    }
    for (auto left = take<size_t>(at); left > 0; --left) {
      const std::string key = take_text(at);
      truth.objects[key] = take_text(at);
    }
    return truth;
  }

 private:
  static constexpr size_t kPage = size_t{4} << 20;
  struct Pages {
    std::atomic<int> writes{0};
    std::byte page[2][kPage];
  };

  template <class T>
  void put(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    text_.insert(text_.end(), bytes.begin(), bytes.end());
  }
  void put_text(std::span<const std::byte> text) {
    put(text.size());
    text_.insert(text_.end(), text.begin(), text.end());
  }
  template <class T>
  static T take(const std::byte*& at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    at += sizeof(T);
    return value;
  }
  static std::string take_text(const std::byte*& at) {
    const auto size = take<size_t>(at);
    std::string text(reinterpret_cast<const char*>(at), size);
    at += size;
    return text;
  }

  Pages* pages_;
  std::vector<std::byte> text_;
};

} // namespace holdfast::test
