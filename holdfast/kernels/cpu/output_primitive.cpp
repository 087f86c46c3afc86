// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/output.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "holdfast/base/check.h"

namespace holdfast::cpu {

namespace {

namespace mx = mlx::core;

constexpr size_t kLine = 64;
constexpr size_t kKeptBytes = size_t{32} << 20; // idle memory kept at most

// Free memory by power-of-two size.
class Recycler {
 public:
  void* take(size_t bytes) {
    const size_t size = std::bit_ceil(bytes);
    {
      std::lock_guard lock(mutex_);
      auto& list = free_[std::countr_zero(size)];
      if (!list.empty()) {
        void* memory = list.back();
        list.pop_back();
        kept_ -= size;
        return memory;
      }
    }
    void* memory = std::aligned_alloc(kLine, size);
    if (memory == nullptr) {
      throw std::bad_alloc();
    }
    return memory;
  }

  void give(void* memory, size_t bytes) {
    const size_t size = std::bit_ceil(bytes);
    {
      std::lock_guard lock(mutex_);
      if (kept_ + size <= kKeptBytes) {
        free_[std::countr_zero(size)].push_back(memory);
        kept_ += size;
        return;
      }
    }
    std::free(memory);
  }

 private:
  std::mutex mutex_;
  std::array<std::vector<void*>, 64> free_;
  size_t kept_ = 0;
};

Recycler& recycler() {
  // Arrays may outlive static objects, so this one is never destroyed.
  static auto* instance = new Recycler();
  return *instance;
}

} // namespace

void allocate_output(mx::array& out) {
  // A CPU buffer of MLX is a size_t with the payload behind it: the header goes
  // into the last 8 bytes of a leading line of our own.
  const size_t bytes = kLine + std::max<size_t>(out.nbytes(), kLine);
  auto* memory = static_cast<char*>(recycler().take(bytes));
  auto* header = reinterpret_cast<size_t*>(memory + kLine - sizeof(size_t));
  *header = out.nbytes();
  out.set_data(mx::allocator::Data(
      mx::allocator::Buffer(header), [memory, bytes](mx::allocator::Buffer) {
        recycler().give(memory, bytes);
      }));
}

void require_contiguous(const mx::array& array, const char* where) {
  if (!array.flags().row_contiguous) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string("[") + where +
            "] expected row-contiguous input, got a strided view");
  }
}

void require_f32(const mx::array& array, const char* where) {
  if (array.dtype() != mx::float32) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string("[") + where + "] expected float32 input, got another");
  }
  require_contiguous(array, where);
}

} // namespace holdfast::cpu
