// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/recurrent.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/env/for_path.h"
#include "holdfast/kernels/cpu/recurrent_kernels.h"

namespace holdfast::cpu {

namespace {

/// Up to so many tokens may be a draft, of which the first is sure to be kept:
/// the running state stays right behind it. More are a prompt's, kept whole.
constexpr int64_t kMostDrafts = 16;
/// Added to |x|^2 under the root.
constexpr float kNormEps = 1e-6f;
constexpr uintptr_t kLineFloats = 64 / sizeof(float);

const RecurrentKernels& kernels_of(KernelPath path) {
  return for_path<
      recurrent_kernels_avx512,
      recurrent_kernels_avx512,
      recurrent_kernels_vec256,
      recurrent_kernels_plain>(path)();
}

void copy_floats(float* to, const float* from, int64_t count) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

/// One key head's planes in one block.
struct HeadBlock {
  int64_t* mark; // 0 or the position of `running`
  float* inputs;
  float* gates;
  float* boundary;
  float* running;
};

struct Buffers {
  std::vector<float> convolved; // [64][head_width]
  std::vector<float> kq; // [64]
  std::vector<float> decay; // [64], of the value head at work
  std::vector<float> beta;
  std::vector<float> read; // [64][value_dim], of the value head at work
  std::vector<float> strip_space;
  float* strip = nullptr; // [key_dim][kStripColumns], on a line's start
};

/// This thread's, large enough for the spec.
Buffers& buffers_for(const RecurrentSpec& spec) {
  static thread_local Buffers buffers;
  const auto grow = [](std::vector<float>& floats, int64_t count) {
    floats.resize(std::max(floats.size(), static_cast<size_t>(count)));
  };
  grow(buffers.convolved, kBlockTokens * spec.head_width());
  grow(buffers.kq, kBlockTokens);
  grow(buffers.decay, kBlockTokens);
  grow(buffers.beta, kBlockTokens);
  grow(buffers.read, kBlockTokens * spec.value_dim);
  grow(buffers.strip_space, spec.key_dim * kStripColumns + kLineFloats);
  const auto address = reinterpret_cast<uintptr_t>(buffers.strip_space.data());
  buffers.strip = buffers.strip_space.data() +
      (kLineFloats - address / sizeof(float) % kLineFloats) % kLineFloats;
  return buffers;
}

/// One key head of one row: its blocks in order, each from a stored state on.
class HeadRun {
 public:
  HeadRun(
      const RecurrentJob& job,
      int64_t row,
      int64_t head,
      Buffers& buffers,
      const RecurrentKernels& kernels)
      : job_(job),
        layer_(*job.layer),
        spec_(job.layer->spec),
        span_(job.rows[static_cast<size_t>(row)]),
        images_(job.blocks[static_cast<size_t>(row)].images),
        head_(head),
        buffers_(buffers),
        kernels_(kernels),
        end_(span_.start + span_.count),
        kept_(span_.count > kMostDrafts ? end_ : span_.start + 1) {}

  void run() {
    const int64_t last = (end_ - 1) / kBlockTokens;
    if (span_.start == 0) {
      begin_sequence();
    }
    for (int64_t b = std::max<int64_t>(span_.start - 1, 0) / kBlockTokens;
         b <= last;
         ++b) {
      if (b * kBlockTokens < end_ && span_.start < (b + 1) * kBlockTokens) {
        append(b);
      }
      run_block(b, b < last ? at(b + 1).boundary : nullptr);
    }
  }

 private:
  HeadBlock at(int64_t block) const {
    std::byte* image = images_[static_cast<size_t>(block)];
    ensure(
        image != nullptr,
        "[recurrent] expected the block of the position before, got none");
    const auto plane = [&](int64_t index) {
      return image + job_.layout->offset(job_.index, head_, index).get();
    };
    return {
        .mark = reinterpret_cast<int64_t*>(plane(kRecurrentMark)),
        .inputs = reinterpret_cast<float*>(plane(kRecurrentInputs)),
        .gates = reinterpret_cast<float*>(plane(kRecurrentGates)),
        .boundary = reinterpret_cast<float*>(plane(kRecurrentBoundary)),
        .running = reinterpret_cast<float*>(plane(kRecurrentRunning))};
  }
  int64_t history() const {
    return (spec_.taps - 1) * spec_.head_width();
  }

  void begin_sequence() const {
    const HeadBlock block = at(0);
    std::fill_n(block.inputs, history(), 0.0f);
    std::fill_n(block.boundary, spec_.head_state(), 0.0f);
  }

  /// Writes the step's inputs that belong to a block.
  void append(int64_t b) const {
    const HeadBlock block = at(b);
    const int64_t begin = b * kBlockTokens;
    const int64_t width = spec_.head_width();
    if (begin >= span_.start) {
      *block.mark = 0;
      if (begin > 0) {
        copy_floats(
            block.inputs, at(b - 1).inputs + kBlockTokens * width, history());
      }
    } else if (*block.mark > span_.start) {
      // It counts inputs that are about to be written anew. Where the step ends
      // in a later block, nothing is written over it: what a full block holds
      // follows from its own tokens.
      *block.mark = 0;
      std::fill_n(block.running, spec_.head_state(), 0.0f);
    }
    const int64_t to = std::min(end_, begin + kBlockTokens);
    for (int64_t p = std::max(span_.start, begin); p < to; ++p) {
      append_token(block, p - begin, p - span_.start + span_.first_token);
    }
  }

  void append_token(const HeadBlock& block, int64_t slot, int64_t token) const {
    const int64_t sharing = spec_.sharing();
    const int64_t keys = spec_.key_heads * spec_.key_dim;
    const int64_t values = spec_.value_heads * spec_.value_dim;
    const float* input = job_.inputs + token * spec_.input_width();
    float* row = block.inputs + history() + slot * spec_.head_width();
    const float* q = input + head_ * spec_.key_dim;
    copy_floats(row, q, spec_.key_dim);
    copy_floats(row + spec_.key_dim, q + keys, spec_.key_dim);
    copy_floats(
        row + 2 * spec_.key_dim,
        input + 2 * keys + head_ * sharing * spec_.value_dim,
        sharing * spec_.value_dim);
    const float* b = input + 2 * keys + 2 * values + head_ * sharing;
    const float* a = b + spec_.value_heads;
    float* gates = block.gates + slot * sharing * 2;
    for (int64_t h = 0; h < sharing; ++h) {
      const auto head = static_cast<size_t>(head_ * sharing + h);
      const double x = a[h] + layer_.bias[head];
      const double softplus =
          std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
      gates[2 * h] =
          static_cast<float>(std::exp(-layer_.rate[head] * softplus));
      gates[2 * h + 1] =
          static_cast<float>(1.0 / (1.0 + std::exp(-double{b[h]})));
    }
  }

  /// Brings a block's state from the latest one that is stored to the end of
  /// the step or of the block; there to `next`, the state of the block behind.
  void run_block(int64_t b, float* next) {
    const HeadBlock block = at(b);
    const int64_t begin = b * kBlockTokens;
    const int64_t to = std::min(end_, begin + kBlockTokens);
    const bool running =
        *block.mark > begin && *block.mark <= std::min(span_.start, to);
    const int64_t base = running ? *block.mark : begin;
    const float* from = running ? block.running : block.boundary;
    if (base == to) {
      copy_floats(next, from, spec_.head_state());
      return;
    }
    const int64_t count = to - base;
    const int64_t first_out = std::max(span_.start - base, int64_t{0});
    convolve(block, base - begin, count, first_out);
    const bool keep = kept_ > base && kept_ <= to;
    if (keep) {
      *block.mark = 0;
    }
    for (int64_t h = 0; h < spec_.sharing(); ++h) {
      load_gates(block, base - begin, count, h);
      run_head(
          {.from = from,
           .keep = keep ? block.running : nullptr,
           .next = next,
           .kept = kept_ - base,
           .count = count,
           .first_out = first_out,
           .base = base,
           .head = h});
    }
    if (keep) {
      *block.mark = kept_;
    }
  }

  /// q, k and v of `count` slots from `slot` on. Only tokens with an output
  /// need a q; that of others is zero.
  void convolve(
      const HeadBlock& block,
      int64_t slot,
      int64_t count,
      int64_t first_out) {
    const int64_t width = spec_.head_width();
    const int64_t dim = spec_.key_dim;
    const auto size = static_cast<float>(dim);
    const float* w = layer_.conv.data() + head_ * spec_.taps * width;
    for (int64_t t = 0; t < count; ++t) {
      float* y = buffers_.convolved.data() + t * width;
      const int64_t skip = t < first_out ? dim : 0;
      kernels_.convolve(
          {.x = block.inputs + (slot + t) * width + skip,
           .w = w + skip,
           .stride = width,
           .taps = spec_.taps,
           .count = width - skip,
           .y = y + skip});
      if (skip > 0) {
        std::fill_n(y, dim, 0.0f);
      } else {
        kernels_.normalise(y, dim, kNormEps / size, 1.0f / size);
      }
      kernels_.normalise(y + dim, dim, kNormEps / size, 1.0f / std::sqrt(size));
      buffers_.kq[static_cast<size_t>(t)] = kernels_.dot(y + dim, y, dim);
    }
  }

  void
  load_gates(const HeadBlock& block, int64_t slot, int64_t count, int64_t h) {
    for (int64_t t = 0; t < count; ++t) {
      const float* gates = block.gates + ((slot + t) * spec_.sharing() + h) * 2;
      buffers_.decay[static_cast<size_t>(t)] = gates[0];
      buffers_.beta[static_cast<size_t>(t)] = gates[1];
    }
  }

  struct Part {
    const float* from;
    float* keep; // the state after `kept` tokens, or null
    float* next; // the state after all, or null
    int64_t kept;
    int64_t count;
    int64_t first_out;
    int64_t base; // position of the first token
    int64_t head; // of those that share the key head
  };

  void run_head(const Part& part) {
    const int64_t dim = spec_.value_dim;
    const int64_t value_head = head_ * spec_.sharing() + part.head;
    const int64_t first =
        span_.first_token + (part.base + part.first_out - span_.start);
    for (int64_t column = 0; column < dim; column += kStripColumns) {
      run_strip(part, column);
    }
    float* out = job_.out + first * spec_.output_width() + value_head * dim;
    const float* z = job_.inputs + first * spec_.input_width() +
        spec_.key_heads * spec_.head_width() + value_head * dim;
    for (int64_t t = 0; t < part.count - part.first_out; ++t) {
      kernels_.gate(
          {.x = buffers_.read.data() + t * dim,
           .norm = layer_.norm.data(),
           .z = z + t * spec_.input_width(),
           .dim = dim,
           .eps = layer_.eps,
           .y = out + t * spec_.output_width()});
    }
  }

  void run_strip(const Part& part, int64_t column) {
    const int64_t columns = std::min(spec_.value_dim - column, kStripColumns);
    const int64_t offset =
        (part.head * spec_.value_dim + column) * spec_.key_dim;
    const auto of = [&](float* state) {
      return state != nullptr ? state + offset : nullptr;
    };
    DeltaRun run{
        .key_dim = spec_.key_dim,
        .vectors = columns / 16,
        .work = buffers_.strip,
        .stride = spec_.head_width(),
        .out_stride = spec_.value_dim};
    const auto tokens = [&](int64_t first, int64_t end) {
      const float* y = buffers_.convolved.data() + first * run.stride;
      run.tokens = end - first;
      run.q = y;
      run.k = y + spec_.key_dim;
      run.v = y + 2 * spec_.key_dim + part.head * spec_.value_dim + column;
      run.decay = buffers_.decay.data() + first;
      run.beta = buffers_.beta.data() + first;
      run.kq = buffers_.kq.data() + first;
      run.first_out = std::max(part.first_out - first, int64_t{0});
      run.out = buffers_.read.data() + column +
          std::max(first - part.first_out, int64_t{0}) * run.out_stride;
      kernels_.run(run);
    };
    run.from = part.from + offset;
    int64_t done = 0;
    if (part.keep != nullptr) {
      run.to = of(part.keep);
      tokens(0, part.kept);
      run.from = run.to;
      done = part.kept;
    }
    run.to = of(part.next);
    if (done < part.count) {
      tokens(done, part.count);
    } else if (run.to != nullptr) {
      copy_floats(run.to, run.from, columns * spec_.key_dim);
    }
  }

  const RecurrentJob& job_;
  const GatedDelta& layer_;
  const RecurrentSpec& spec_;
  const RowSpan& span_;
  const std::vector<std::byte*>& images_;
  const int64_t head_;
  Buffers& buffers_;
  const RecurrentKernels& kernels_;
  const int64_t end_; // of the step's positions
  const int64_t kept_; // the running state's position after the step
};

} // namespace

void append_and_recur(
    const RecurrentJob& job,
    Executor& executor,
    KernelPath path) {
  const RecurrentSpec& spec = job.layer->spec;
  const RecurrentKernels& kernels = kernels_of(path);
  const auto rows = static_cast<int64_t>(job.rows.size());
  executor.for_each(rows * spec.key_heads, [&](int64_t item, int) {
    HeadRun(
        job,
        item / spec.key_heads,
        item % spec.key_heads,
        buffers_for(spec),
        kernels)
        .run();
  });
}

} // namespace holdfast::cpu
