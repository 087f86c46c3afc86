// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The recurrent kernels over a lane type, with make_recurrent<V>() that gathers
// them. Include rules as for math-inl.h. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/norm-inl.h"
#include "holdfast/kernels/cpu/recurrent_kernels.h"

namespace holdfast::cpu {
namespace {

template <class V>
void convolve(const ConvolveJob& job) {
  for (int64_t c = 0; c < job.count; c += kLanes) {
    V sum = V::load(job.w + c) * V::load(job.x + c);
    for (int64_t j = 1; j < job.taps; ++j) {
      const int64_t at = j * job.stride + c;
      sum = V::fma(V::load(job.w + at), V::load(job.x + at), sum);
    }
    silu(sum).store(job.y + c);
  }
}

template <class V>
void normalise(float* x, int64_t dim, float eps, float factor) {
  const V scale = V::set(rms_scale<V>(x, dim, eps) * factor);
  for (int64_t i = 0; i < dim; i += kLanes) {
    (V::load(x + i) * scale).store(x + i);
  }
}

template <class V>
float dot(const float* a, const float* b, int64_t dim) {
  V sum = V::set(0.0f);
  for (int64_t i = 0; i < dim; i += kLanes) {
    sum = V::fma(V::load(a + i), V::load(b + i), sum);
  }
  return sum.sum();
}

template <class V>
void gate(const GateJob& job) {
  const V scale = V::set(rms_scale<V>(job.x, job.dim, job.eps));
  for (int64_t i = 0; i < job.dim; i += kLanes) {
    const V x = V::load(job.x + i) * scale * V::load(job.norm + i);
    (x * silu(V::load(job.z + i))).store(job.y + i);
  }
}

/// Sums over the rows of a state, S^T k and S^T q: even rows and odd rows in
/// order, from zero, added at the end.
template <class V, int N>
struct Sums {
  V k[2][N];
  V q[2][N];

  void clear() {
    for (int e = 0; e < 2; ++e) {
      for (int n = 0; n < N; ++n) {
        k[e][n] = V::set(0.0f);
        q[e][n] = V::set(0.0f);
      }
    }
  }
  void add(int e, const V (&s)[N], float key, float query) {
    const V vk = V::set(key);
    const V vq = V::set(query);
    for (int n = 0; n < N; ++n) {
      k[e][n] = V::fma(s[n], vk, k[e][n]);
      q[e][n] = V::fma(s[n], vq, q[e][n]);
    }
  }
};

template <class V, int N>
inline void load_row(const float* from, V (&s)[N]) {
  for (int n = 0; n < N; ++n) {
    s[n] = V::load(from + n * kLanes);
  }
}

/// The sums of a state as it stands.
template <class V, int N>
inline void sum_rows(const DeltaRun& run, Sums<V, N>& sums) {
  sums.clear();
  for (int64_t i = 0; i < run.key_dim; i += 2) {
    for (int e = 0; e < 2; ++e) {
      V s[N];
      load_row<V, N>(run.from + (i + e) * N * kLanes, s);
      sums.add(e, s, run.k[i + e], run.q[i + e]);
    }
  }
}

/// One row of S = decay S + k delta^T.
template <class V, int N>
inline void update_row(
    const float* from,
    float* to,
    V decay,
    const V (&delta)[N],
    float key,
    V (&s)[N]) {
  const V k = V::set(key);
  load_row<V, N>(from, s);
  for (int n = 0; n < N; ++n) {
    s[n] = V::fma(k, delta[n], decay * s[n]);
  }
  for (int n = 0; n < N; ++n) {
    s[n].store(to + n * kLanes);
  }
}

/// Token t: its output, and what its key adds.
template <class V, int N>
inline void read_token(
    const DeltaRun& run,
    int64_t t,
    const Sums<V, N>& sums,
    V (&delta)[N]) {
  const V decay = V::set(run.decay[t]);
  const V beta = V::set(run.beta[t]);
  const V kq = V::set(run.kq[t]);
  for (int n = 0; n < N; ++n) {
    const V held = decay * (sums.k[0][n] + sums.k[1][n]);
    delta[n] = (V::load(run.v + t * run.stride + n * kLanes) - held) * beta;
    if (t >= run.first_out) {
      const V read = decay * (sums.q[0][n] + sums.q[1][n]);
      V::fma(kq, delta[n], read)
          .store(run.out + (t - run.first_out) * run.out_stride + n * kLanes);
    }
  }
}

template <class V, int N>
void run_strip(const DeltaRun& run) {
  Sums<V, N> sums;
  sum_rows<V, N>(run, sums);
  const float* from = run.from;
  for (int64_t t = 0;; ++t) {
    V delta[N];
    read_token<V, N>(run, t, sums, delta);
    const bool last = t + 1 == run.tokens;
    float* to = last ? run.to : run.work;
    if (to == nullptr) {
      return;
    }
    const V decay = V::set(run.decay[t]);
    const float* k = run.k + t * run.stride;
    constexpr int64_t kRow = N * kLanes;
    V s[N];
    if (last) {
      for (int64_t i = 0; i < run.key_dim; ++i) {
        update_row<V, N>(from + i * kRow, to + i * kRow, decay, delta, k[i], s);
      }
      return;
    }
    const float* next_k = k + run.stride;
    const float* next_q = run.q + (t + 1) * run.stride;
    sums.clear();
    for (int64_t i = 0; i < run.key_dim; i += 2) {
      for (int64_t e = 0; e < 2; ++e) {
        const int64_t row = i + e;
        update_row<V, N>(
            from + row * kRow, to + row * kRow, decay, delta, k[row], s);
        sums.add(static_cast<int>(e), s, next_k[row], next_q[row]);
      }
    }
    from = to;
  }
}

template <class V>
void run_delta(const DeltaRun& run) {
  switch (run.vectors) {
    case 1:
      return run_strip<V, 1>(run);
    case 2:
      return run_strip<V, 2>(run);
    case 3:
      return run_strip<V, 3>(run);
    default:
      return run_strip<V, 4>(run);
  }
}

template <class V>
constexpr RecurrentKernels make_recurrent() {
  return {
      .convolve = convolve<V>,
      .normalise = normalise<V>,
      .dot = dot<V>,
      .gate = gate<V>,
      .run = run_delta<V>};
}

} // namespace
} // namespace holdfast::cpu
