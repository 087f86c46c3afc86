// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/experts.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/elementwise.h"
#include "holdfast/kernels/cpu/expert_choice.h"
#include "holdfast/kernels/cpu/linear_batch.h"
#include "holdfast/kernels/cpu/linear_dispatch.h"

namespace holdfast::cpu {

namespace {

constexpr int64_t kPassRows = 512; // bounds the memory of a job
constexpr int64_t kItemRows = 16; // waking the team costs about as much

void require(bool condition, const char* text) {
  if (!condition) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string("[mix_experts] expected ") + text);
  }
}

bool fits(const Weight& weight, int64_t n, int64_t k) {
  return weight.n() == n && weight.k() == k && !weight.format().exact;
}

void check(const ExpertsJob& job) {
  require(!job.experts.empty(), "at least one expert, got none");
  const int64_t ffn = job.experts[0].gate.n();
  const int64_t k = job.experts[0].gate.k();
  for (const Expert& expert : job.experts) {
    require(
        fits(expert.gate, ffn, k) && fits(expert.up, ffn, k) &&
            fits(expert.down, k, ffn),
        "gate and up [ffn, k] and down [k, ffn] of one shape");
    require(
        (expert.gate_up_bias.empty() ||
         std::ssize(expert.gate_up_bias) == 2 * ffn) &&
            (expert.down_bias.empty() || std::ssize(expert.down_bias) == k),
        "biases [2 ffn] and [k], or none");
  }
  require(job.gate != Gate::kNone, "a gate");
  require(
      job.top >= 1 && job.top <= std::ssize(job.experts),
      "from one to all experts a row");
  require(
      job.m >= 0 &&
          (job.m == 0 ||
           (job.x != nullptr && job.scores != nullptr && job.y != nullptr)),
      "m >= 0 and x, scores and y");
  require(job.m == 0 || job.x != job.y, "y apart from x");
}

/// An expert that rows of this pass go through.
struct Turn {
  const Weight* in[2]; // gate and up
  const Weight* out[1];
  int64_t first; // visit; its others follow
  LinearJob gated;
  LinearJob down;
};

/// At most kPassRows rows of a job. A visit is a row at one of its experts;
/// visits are in order of the expert, then of the row.
class Pass {
 public:
  Pass(const ExpertsJob& job, Executor& executor, KernelPath path)
      : job_(job),
        executor_(executor),
        path_(path),
        k_(job.experts[0].gate.k()),
        ffn_(job.experts[0].gate.n()),
        shares_(static_cast<size_t>(job.m * job.top)),
        places_(shares_.size()),
        rows_(shares_.size()),
        gated_(linear_kernels(path), executor.threads()),
        down_(linear_kernels(path), executor.threads()) {}

  void run() {
    over_rows([&](int64_t row) { choose(row); });
    gather();
    allocate();
    if (job_.norm.weight != nullptr) { // once a row: all its experts take it
      over_rows([&](int64_t row) {
        const int64_t at = row * k_;
        rms_norm(job_.x + at, 1, k_, job_.norm, normed_ + at, path_);
      });
    }
    gated_.run(workers_, executor_);
    down_.run(workers_, executor_);
    over_rows([&](int64_t row) { add(row); });
  }

 private:
  /// Inline where they are few.
  template <class F>
  void over_rows(const F& work) {
    if (job_.m <= kItemRows) {
      for (int64_t row = 0; row < job_.m; ++row) {
        work(row);
      }
      return;
    }
    executor_.for_each(ceil_div(job_.m, kItemRows), [&](int64_t item, int) {
      const int64_t end = std::min(job_.m, (item + 1) * kItemRows);
      for (int64_t row = item * kItemRows; row < end; ++row) {
        work(row);
      }
    });
  }

  void choose(int64_t row) {
    const auto count = std::ssize(job_.experts);
    std::ranges::copy(
        choose_experts(
            {job_.scores + row * count, static_cast<size_t>(count)},
            job_.top,
            job_.routing,
            path_),
        shares_.begin() + row * job_.top);
  }

  /// The visits of each expert, and its jobs.
  void gather() {
    std::vector<int64_t> next(job_.experts.size() + 1, 0);
    for (const ExpertShare& share : shares_) {
      ++next[static_cast<size_t>(share.expert) + 1];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    turns_.reserve(job_.experts.size()); // jobs stay where they are
    for (size_t e = 0; e < job_.experts.size(); ++e) {
      if (next[e + 1] > next[e]) {
        add_turn(job_.experts[e], next[e], next[e + 1] - next[e]);
      }
    }
    for (size_t i = 0; i < shares_.size(); ++i) {
      const int64_t visit = next[static_cast<size_t>(shares_[i].expert)]++;
      places_[i] = visit;
      rows_[static_cast<size_t>(visit)] = static_cast<int64_t>(i) / job_.top;
    }
  }

  void add_turn(const Expert& expert, int64_t first, int64_t count) {
    turns_.push_back(
        {.in = {&expert.gate, &expert.up},
         .out = {&expert.down},
         .first = first,
         .gated = {},
         .down = {}});
    Turn& turn = turns_.back();
    turn.gated = {.m = count, .weights = turn.in, .gate = job_.gate};
    turn.down = {.m = count, .weights = turn.out};
    if (!expert.gate_up_bias.empty()) {
      turn.gated.bias = expert.gate_up_bias.data();
    }
    if (!expert.down_bias.empty()) {
      turn.down.bias = expert.down_bias.data();
    }
    gated_.add(turn.gated, rows_.data() + first);
    down_.add(turn.down);
  }

  /// The two batches run one after the other, in the same buffers.
  void allocate() {
    gated_.cut();
    down_.cut();
    WorkSizes sizes = gated_.sizes();
    sizes.widen(down_.sizes());
    workers_.resize(static_cast<size_t>(executor_.threads()));
    Scratch scratch;
    for (WorkBuffers& worker : workers_) {
      scratch.add(&worker.slab, kSlabValues);
      scratch.add(&worker.sums, sizes.sums);
      scratch.add(&worker.row, sizes.row);
    }
    Activations rows;
    scratch.add(&rows.a, std::max(gated_.tile_values(), down_.tile_values()));
    scratch.add(&rows.f32, std::max(gated_.row_values(), down_.row_values()));
    const auto visits = std::ssize(shares_);
    float* hidden = nullptr;
    scratch.add(&normed_, job_.norm.weight == nullptr ? 0 : job_.m * k_);
    scratch.add(&hidden, visits * ffn_);
    scratch.add(&out_, visits * k_);
    scratch.allocate();
    gated_.place(rows);
    down_.place(rows);
    for (Turn& turn : turns_) {
      turn.gated.x = job_.norm.weight == nullptr ? job_.x : normed_;
      turn.gated.y = hidden + turn.first * ffn_;
      turn.down.x = turn.gated.y;
      turn.down.y = out_ + turn.first * k_;
    }
  }

  /// A row's shares are in ascending order of the expert.
  void add(int64_t row) {
    float* y = job_.y + row * k_;
    std::copy_n(job_.x + row * k_, k_, y);
    for (int64_t i = row * job_.top; i < (row + 1) * job_.top; ++i) {
      const float weight = shares_[static_cast<size_t>(i)].weight;
      const float* part = out_ + places_[static_cast<size_t>(i)] * k_;
      for (int64_t c = 0; c < k_; ++c) {
        y[c] += weight * part[c];
      }
    }
  }

  const ExpertsJob& job_;
  Executor& executor_;
  const KernelPath path_;
  const int64_t k_;
  const int64_t ffn_;
  std::vector<ExpertShare> shares_; // [m, top]
  std::vector<int64_t> places_; // [m, top], the visits
  std::vector<int64_t> rows_; // [visits]
  std::vector<Turn> turns_;
  LinearBatch gated_, down_;
  std::vector<WorkBuffers> workers_;
  float* normed_ = nullptr; // [m, k]
  float* out_ = nullptr; // [visits, k]
};

} // namespace

void mix_experts(const ExpertsJob& job, Executor& executor, KernelPath path) {
  check(job);
  const int64_t k = job.experts[0].gate.k();
  for (int64_t row = 0; row < job.m; row += kPassRows) {
    ExpertsJob part = job;
    part.m = std::min(kPassRows, job.m - row);
    part.x = job.x + row * k;
    part.scores = job.scores + row * std::ssize(job.experts);
    part.y = job.y + row * k;
    Pass(part, executor, path).run();
  }
}

} // namespace holdfast::cpu
