// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/env/for_path.h"
#include "holdfast/kernels/cpu/elementwise_lanes.h"

namespace holdfast::cpu {

namespace {

// Waking the team costs about what 16 tokens of work do.
constexpr int64_t kChunkTokens = 16;
constexpr int64_t kPad = 16; // angles come 16 at a time

const LaneTable& lanes(KernelPath path) {
  return for_path<avx512_lanes, avx512_lanes, vec256_lanes, plain_lanes>(
      path)();
}

/// Quarter turns per position of each pair, padded with zeros to kPad.
using QuarterTurns = std::shared_ptr<const std::vector<double>>;

/// Computed once per rope: a model has one to three of them.
QuarterTurns quarter_turns(const Rope& rope) {
  using Divisors = std::shared_ptr<const std::vector<double>>;
  using Key = std::tuple<int64_t, float, float, int64_t, Divisors>;
  constexpr size_t kMostRopes = 32;
  static std::mutex mutex;
  static std::map<Key, QuarterTurns> known;
  const std::lock_guard lock(mutex);
  const Key key{rope.dims, rope.base, rope.scale, rope.turned, rope.divisors};
  if (auto found = known.find(key); found != known.end()) {
    return found->second;
  }
  const int64_t half = rope.dims / 2;
  std::vector<double> turns(round_up(half, kPad), 0.0);
  const int64_t turned = rope.turned > 0 ? rope.turned : half;
  for (int64_t i = 0; i < turned; ++i) {
    const double exponent =
        -2.0 * static_cast<double>(i) / static_cast<double>(rope.dims);
    turns[i] = double{rope.scale} * std::pow(double{rope.base}, exponent) *
        2.0 / std::numbers::pi;
    turns[i] /= rope.divisors ? (*rope.divisors)[i] : 1.0;
  }
  if (known.size() >= kMostRopes) {
    known.clear();
  }
  return known[key] =
             std::make_shared<const std::vector<double>>(std::move(turns));
}

/// Calls work(first, last) over chunks of [0, tokens), inline where few.
template <class F>
void over_tokens(int64_t tokens, Executor& executor, const F& work) {
  if (tokens <= kChunkTokens) {
    work(int64_t{0}, tokens);
    return;
  }
  executor.for_each(ceil_div(tokens, kChunkTokens), [&](int64_t chunk, int) {
    const int64_t first = chunk * kChunkTokens;
    work(first, std::min(tokens, first + kChunkTokens));
  });
}

void check(const SplitHeadsJob& job) {
  expect(
      job.tokens >= 0 && job.query_heads >= 1 && job.kv_heads >= 0 &&
          job.head_dim >= 1,
      "[split_heads] expected tokens, kv heads >= 0 and query heads, head_dim "
      ">= 1");
  const Rope& rope = job.rope;
  expect(
      rope.dims >= 0 && rope.dims % 2 == 0 && rope.dims <= job.head_dim,
      "[split_heads] expected even rope dims within the head");
  expect(
      rope.turned >= 0 && rope.turned <= rope.dims / 2,
      "[split_heads] expected pairs that turn among those of the rope");
  expect(
      rope.dims == 0 ||
          (std::isfinite(rope.base) && rope.base > 0.0f &&
           std::isfinite(rope.scale)),
      "[split_heads] expected a finite rope base > 0 and scale");
  expect(
      std::isfinite(rope.magnitude) &&
          (rope.divisors == nullptr ||
           (std::ssize(*rope.divisors) == rope.dims / 2 &&
            std::ranges::all_of(
                *rope.divisors,
                [](double d) { return std::isfinite(d) && d > 0.0; }))),
      "[split_heads] expected a finite magnitude, and divisors > 0 of each "
      "pair of the rope");
}

HeadShape head_shape(
    const SplitHeadsJob& job,
    const RmsNorm& norm,
    const float* cos,
    const float* sin) {
  return {
      .dim = job.head_dim,
      .half = job.rope.dims / 2,
      .weight = norm.weight,
      .eps = norm.eps,
      .cos = cos,
      .sin = sin};
}

/// Tokens [first, last). turns: null where nothing is roped.
void split_tokens(
    const SplitHeadsJob& job,
    const LaneTable& table,
    const double* turns,
    int64_t first,
    int64_t last) {
  const int64_t padded = round_up(job.rope.dims / 2, kPad);
  std::vector<float> angles(2 * padded);
  float* cos = angles.data();
  float* sin = cos + padded;
  const HeadShape query = head_shape(job, job.query_norm, cos, sin);
  const HeadShape key = head_shape(job, job.key_norm, cos, sin);
  HeadShape value = head_shape(job, job.value_norm, nullptr, nullptr);
  value.half = 0;
  const int64_t dim = job.head_dim;
  const int64_t kv_width = job.kv_heads * dim;
  const int64_t query_stride = job.gated ? 2 * dim : dim;
  const int64_t width = job.query_heads * query_stride + 2 * kv_width;
  for (int64_t t = first; t < last; ++t) {
    if (turns != nullptr) {
      table.angles(job.positions[t], turns, padded, cos, sin);
      if (job.rope.magnitude != 1.0f) {
        for (float& value : angles) {
          value *= job.rope.magnitude;
        }
      }
    }
    const float* x = job.qkv + t * width;
    float* q = job.q + t * job.query_heads * dim;
    for (int64_t h = 0; h < job.query_heads; ++h) {
      table.head(x + h * query_stride, query, q + h * dim);
    }
    x += job.query_heads * query_stride;
    float* k = job.k + t * kv_width;
    for (int64_t h = 0; h < job.kv_heads; ++h) {
      table.head(x + h * dim, key, k + h * dim);
    }
    if (kv_width == 0) {
      continue; // k and v may be null
    }
    if (job.value_norm.weight == nullptr) {
      std::memcpy(job.v + t * kv_width, x + kv_width, kv_width * sizeof(float));
      continue;
    }
    for (int64_t h = 0; h < job.kv_heads; ++h) {
      table.head(x + kv_width + h * dim, value, job.v + t * kv_width + h * dim);
    }
  }
}

} // namespace

void split_heads(
    const SplitHeadsJob& job,
    Executor& executor,
    KernelPath path) {
  check(job);
  const QuarterTurns turns =
      job.rope.dims > 0 ? quarter_turns(job.rope) : nullptr;
  const double* data = turns ? turns->data() : nullptr;
  const LaneTable& table = lanes(path);
  over_tokens(job.tokens, executor, [&](int64_t first, int64_t last) {
    split_tokens(job, table, data, first, last);
  });
}

void gate_heads(const GateHeadsJob& job, Executor& executor, KernelPath path) {
  const int64_t dim = job.head_dim;
  expect(
      job.tokens >= 0 && job.query_heads >= 1 && dim >= 1 &&
          job.width >= 2 * job.query_heads * dim,
      "[gate_heads] expected a gate behind each query head");
  const LaneTable& table = lanes(path);
  over_tokens(job.tokens, executor, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      for (int64_t h = 0; h < job.query_heads; ++h) {
        const int64_t at = (t * job.query_heads + h) * dim;
        const float* gate = job.qkv + t * job.width + (2 * h + 1) * dim;
        table.map(LaneFunction::kSigmoid, gate, dim, job.y + at);
        for (int64_t i = 0; i < dim; ++i) {
          job.y[at + i] *= job.x[at + i];
        }
      }
    }
  });
}

void activate(
    Activation function,
    std::span<const float> x,
    float* y,
    Executor& executor,
    KernelPath path) {
  const LaneTable& table = lanes(path);
  const LaneFunction map =
      function == Activation::kTanh ? LaneFunction::kTanh : LaneFunction::kGelu;
  constexpr int64_t kPiece = 4096;
  const auto count = static_cast<int64_t>(x.size());
  executor.for_each(ceil_div(count, kPiece), [&](int64_t piece, int) {
    const int64_t first = piece * kPiece;
    table.map(
        map, x.data() + first, std::min(kPiece, count - first), y + first);
  });
}

void rms_norm(
    const float* x,
    int64_t tokens,
    int64_t width,
    const RmsNorm& norm,
    float* y,
    KernelPath path) {
  expect(
      tokens >= 0 && width >= 1,
      "[rms_norm] expected tokens >= 0 and width >= 1");
  if (norm.weight == nullptr) {
    if (x != y && tokens > 0) {
      std::memcpy(y, x, tokens * width * sizeof(float));
    }
    return;
  }
  const LaneTable& table = lanes(path);
  for (int64_t t = 0; t < tokens; ++t) {
    table.rms_norm(x + t * width, norm.weight, norm.eps, width, y + t * width);
  }
}

void embed(
    const Weight& table,
    std::span<const int32_t> ids,
    float scale,
    float* y,
    Executor& executor) {
  for (const int32_t id : ids) {
    if (id < 0 || id >= table.n()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[embed] expected token ids in [0, " + std::to_string(table.n()) +
              "), got " + std::to_string(id));
    }
  }
  const int64_t width = table.k();
  const auto tokens = static_cast<int64_t>(ids.size());
  over_tokens(tokens, executor, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      float* row = y + t * width;
      table.read_row(ids[t], row);
      for (int64_t i = 0; i < width; ++i) {
        row[i] *= scale;
      }
    }
  });
}

} // namespace holdfast::cpu
