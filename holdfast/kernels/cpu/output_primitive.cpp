// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/output.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "mlx/backend/cpu/encoder.h"

#include "holdfast/base/check.h"

namespace holdfast::cpu {

namespace {

namespace mx = mlx::core;

constexpr size_t kLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kKeptBytes = size_t{40} << 20; // idle memory kept at most

// Rounded up to an eighth of a power of two, so that few sizes recur.
size_t size_class(size_t bytes) {
  const size_t eighth = std::max(std::bit_floor(bytes) / 8, kLine);
  return (bytes + eighth - 1) / eighth * eighth;
}

// Free memory by size. Large pieces ask for huge pages: logits are streamed.
class Recycler {
 public:
  void* take(size_t bytes) {
    const size_t size = size_class(bytes);
    {
      std::lock_guard lock(mutex_);
      auto& list = free_[size];
      if (!list.empty()) {
        void* memory = list.back();
        list.pop_back();
        kept_ -= size;
        return memory;
      }
    }
    const bool huge = size >= kHugePage;
    void* memory = nullptr;
    if (posix_memalign(&memory, huge ? kHugePage : kLine, size) != 0) {
      throw std::bad_alloc();
    }
#if defined(__linux__)
    if (huge) {
      ::madvise(memory, size, MADV_HUGEPAGE);
    }
#endif
    return memory;
  }

  // Called by deleters: does not throw.
  void give(void* memory, size_t bytes) noexcept {
    const size_t size = size_class(bytes);
    try {
      std::lock_guard lock(mutex_);
      if (kept_ + size <= kKeptBytes) {
        free_[size].push_back(memory);
        kept_ += size;
        return;
      }
    } catch (const std::bad_alloc&) {
      // Not kept, then.
    }
    std::free(memory);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<size_t, std::vector<void*>> free_;
  size_t kept_ = 0;
};

Recycler& recycler() {
  // Arrays may outlive static objects, so this one is never destroyed.
  static auto* instance = new Recycler();
  return *instance;
}

// What was strided, dimension by dimension, and what keeps its memory.
struct Strided {
  mx::Shape shape;
  mx::Strides strides;
  std::shared_ptr<mx::array::Data> memory;
};

// Dimensions from `dim` on, row-contiguous; `to` ends behind them.
void copy_rows(const Strided& of, size_t dim, const float* from, float*& to) {
  const int64_t stride = of.strides[dim];
  const bool last = dim + 1 == of.shape.size();
  for (int64_t i = 0; i < of.shape[dim]; ++i) {
    if (last) {
      *to++ = from[i * stride];
    } else {
      copy_rows(of, dim + 1, from + i * stride, to);
    }
  }
}

void require_f32_type(const mx::array& array, const char* where) {
  if (array.dtype() != mx::float32) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string("[") + where + "] expected float32 input, got another");
  }
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
  require_f32_type(array, where);
  require_contiguous(array, where);
}

mx::array
contiguous_f32(const mx::array& array, const char* where, mx::Stream stream) {
  require_f32_type(array, where);
  if (array.flags().row_contiguous) {
    return array;
  }
  mx::array copy(array.shape(), mx::float32, nullptr, {});
  allocate_output(copy);
  auto& encoder = mx::cpu::get_command_encoder(stream);
  encoder.add_temporary(copy);
  encoder.dispatch(
      [of = Strided{array.shape(), array.strides(), array.data_shared_ptr()},
       from = array.data<float>(),
       to = copy.data<float>()]() mutable { copy_rows(of, 0, from, to); });
  return copy;
}

} // namespace holdfast::cpu
