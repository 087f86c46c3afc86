// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/experts.h"

#include <algorithm>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/elementwise.h"
#include "holdfast/kernels/cpu/expert_choice.h"

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

/// A row of this pass, at one of its experts.
struct Visit {
  int64_t row = 0;
  float weight = 0.0f;
};

/// At most kPassRows rows of a job.
class Pass {
 public:
  Pass(const ExpertsJob& job, Executor& executor, KernelPath path)
      : job_(job),
        executor_(executor),
        path_(path),
        k_(job.experts[0].gate.k()),
        ffn_(job.experts[0].gate.n()),
        visits_(job.experts.size()) {}

  void run() {
    std::copy_n(job_.x, job_.m * k_, job_.y);
    normalise();
    choose();
    for (size_t e = 0; e < visits_.size(); ++e) {
      if (!visits_[e].empty()) {
        visit(job_.experts[e], visits_[e]);
      }
    }
  }

 private:
  /// Calls work(first, last) over [0, count), inline where they are few.
  template <class F>
  void over_rows(int64_t count, const F& work) {
    if (count <= kItemRows) {
      work(int64_t{0}, count);
      return;
    }
    executor_.for_each(ceil_div(count, kItemRows), [&](int64_t item, int) {
      work(item * kItemRows, std::min(count, (item + 1) * kItemRows));
    });
  }

  /// Once a row: each of its experts takes the same.
  void normalise() {
    normed_.resize(static_cast<size_t>(job_.m * k_));
    over_rows(job_.m, [&](int64_t first, int64_t last) {
      rms_norm(
          job_.x + first * k_,
          last - first,
          k_,
          job_.norm,
          normed_.data() + first * k_,
          path_);
    });
  }

  void choose() {
    const auto count = static_cast<int64_t>(job_.experts.size());
    std::vector<std::vector<ExpertShare>> chosen(static_cast<size_t>(job_.m));
    over_rows(job_.m, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        chosen[static_cast<size_t>(row)] = choose_experts(
            {job_.scores + row * count, static_cast<size_t>(count)},
            job_.top,
            job_.routing,
            path_);
      }
    });
    for (int64_t row = 0; row < job_.m; ++row) {
      for (const ExpertShare& share : chosen[static_cast<size_t>(row)]) {
        visits_[static_cast<size_t>(share.expert)].push_back(
            {row, share.weight});
      }
    }
  }

  /// Experts are visited in ascending order, so each row adds its own in that
  /// order.
  void visit(const Expert& expert, const std::vector<Visit>& visits) {
    const int64_t m = std::ssize(visits);
    in_.resize(static_cast<size_t>(m * k_));
    hidden_.resize(static_cast<size_t>(m * ffn_));
    out_.resize(static_cast<size_t>(m * k_));
    over_rows(m, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t row = visits[static_cast<size_t>(i)].row;
        std::copy_n(normed_.data() + row * k_, k_, in_.data() + i * k_);
      }
    });
    const Weight* both[] = {&expert.gate, &expert.up};
    LinearJob gated{.x = in_.data(), .m = m, .weights = both};
    gated.bias =
        expert.gate_up_bias.empty() ? nullptr : expert.gate_up_bias.data();
    gated.gate = job_.gate;
    gated.y = hidden_.data();
    linear(gated, executor_, path_);
    const Weight* one[] = {&expert.down};
    LinearJob down{.x = hidden_.data(), .m = m, .weights = one};
    down.bias = expert.down_bias.empty() ? nullptr : expert.down_bias.data();
    down.y = out_.data();
    linear(down, executor_, path_);
    over_rows(m, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const Visit& visit = visits[static_cast<size_t>(i)];
        float* y = job_.y + visit.row * k_;
        const float* part = out_.data() + i * k_;
        for (int64_t c = 0; c < k_; ++c) {
          y[c] += visit.weight * part[c];
        }
      }
    });
  }

  const ExpertsJob& job_;
  Executor& executor_;
  const KernelPath path_;
  const int64_t k_;
  const int64_t ffn_;
  std::vector<std::vector<Visit>> visits_; // [expert]
  std::vector<float> normed_; // [m, k]
  std::vector<float> in_, hidden_, out_; // of one expert's rows
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
