// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/status.h"
#include "holdfast/kernels/cpu/sample.h"

namespace holdfast {

namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();
// Below the maximum by kBuckets / kBucketsPerNat = 64, a weight is nothing.
constexpr float kBucketsPerNat = 16.0f;
constexpr int kBuckets = 1024;

} // namespace

Sampler::Sampler(const SamplingOptions& options, int64_t vocab, KernelPath path)
    : options_(options), vocab_(vocab), path_(path) {
  options_.validate();
  if (vocab < 1 || vocab > std::numeric_limits<int32_t>::max()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[sampler] expected a vocabulary of 1 to 2^31 - 1 tokens, got " +
            std::to_string(vocab));
  }
  const auto blocks = static_cast<size_t>(ceil_div(vocab, cpu::kSampleBlock));
  maxima_.resize(blocks);
  sums_.resize(blocks);
  weights_.resize(cpu::kSampleBlock);
}

void Sampler::observe(int32_t token) {
  if (options_.penalises()) {
    ++seen_[token];
  }
}

int32_t Sampler::sample(std::span<const float> raw, int64_t position) {
  if (static_cast<int64_t>(raw.size()) != vocab_) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[sampler] expected " + std::to_string(vocab_) + " logits, got " +
            std::to_string(raw.size()));
  }
  const std::span<const float> logits = penalise(raw);
  find_maximum(logits);
  if (options_.temperature == 0.0) {
    return first_maximum(logits);
  }
  candidates_.clear();
  if (options_.top_k > 0 && options_.top_k < vocab_) {
    keep_top_k(logits, options_.top_k);
  }
  if (options_.top_p < 1.0) {
    keep_top_p(logits);
  }
  if (options_.min_p > 0.0) {
    keep_min_p(logits);
  }
  const double u = uniform_at(options_.seed, position);
  return candidates_.empty() ? draw_any(logits, u) : draw_candidate(u);
}

std::span<const float> Sampler::penalise(std::span<const float> logits) {
  if (seen_.empty()) {
    return logits;
  }
  penalised_.assign(logits.begin(), logits.end());
  const auto repeat = static_cast<float>(options_.repeat_penalty);
  for (const auto& [id, count] : seen_) {
    if (id < 0 || id >= vocab_) {
      continue;
    }
    float& logit = penalised_[static_cast<size_t>(id)];
    logit = logit > 0.0f ? logit / repeat : logit * repeat;
    logit -= static_cast<float>(
        options_.presence_penalty +
        options_.frequency_penalty * static_cast<double>(count));
  }
  return penalised_;
}

void Sampler::find_maximum(std::span<const float> logits) {
  cpu::block_maxima(logits, maxima_.data(), path_);
  max_ = *std::max_element(maxima_.begin(), maxima_.end());
  if (!std::isfinite(max_)) {
    throw Error(
        ErrorCode::kInternal,
        "[sampler] expected finite logits, got a maximum of " +
            std::to_string(max_));
  }
}

int32_t Sampler::first_maximum(std::span<const float> logits) const {
  const auto block =
      std::find(maxima_.begin(), maxima_.end(), max_) - maxima_.begin();
  const auto from = logits.begin() + block * cpu::kSampleBlock;
  return static_cast<int32_t>(
      std::find(from, logits.end(), max_) - logits.begin());
}

void Sampler::collect(std::span<const float> logits, float threshold) {
  found_.resize(logits.size());
  const int64_t count =
      cpu::collect_at_least(logits, threshold, found_.data(), path_);
  candidates_.resize(static_cast<size_t>(count));
  for (size_t i = 0; i < candidates_.size(); ++i) {
    candidates_[i] = {logits[static_cast<size_t>(found_[i])], found_[i], 0.0f};
  }
}

void Sampler::keep_top_k(std::span<const float> logits, int64_t k) {
  // The k largest block maxima are k logits, so the k-th of them bounds the
  // k-th largest logit from below, and few logits reach it.
  float threshold = kLowest;
  if (k <= static_cast<int64_t>(maxima_.size())) {
    ordered_ = maxima_;
    const auto kth = ordered_.begin() + (k - 1);
    std::nth_element(ordered_.begin(), kth, ordered_.end(), std::greater<>());
    threshold = *kth;
  }
  collect(logits, threshold);
  if (k < static_cast<int64_t>(candidates_.size())) {
    std::nth_element(
        candidates_.begin(),
        candidates_.begin() + (k - 1),
        candidates_.end(),
        before);
    candidates_.resize(static_cast<size_t>(k));
  }
}

void Sampler::keep_top_p(std::span<const float> logits) {
  if (!candidates_.empty()) {
    cut_top_p(options_.top_p * weigh_candidates(1.0f));
    return;
  }
  // Widen the band below the maximum until it holds enough probability.
  const double target = options_.top_p * weigh(logits, 1.0f);
  float band = 2.0f;
  while (band < 128.0f) {
    collect(logits, max_ - band);
    if (weigh_candidates(1.0f) >= target) {
      cut_top_p(target);
      return;
    }
    band *= 1.5f;
  }
  collect(logits, kLowest);
  weigh_candidates(1.0f);
  cut_top_p(target);
}

/// Keeps the most likely candidates up to and including the one with which
/// their weight reaches `target`.
void Sampler::cut_top_p(double target) {
  // Buckets of logits find roughly where that is, in a pass without sorting.
  const auto bucket = [this](const Candidate& c) {
    const float below = (max_ - c.logit) * kBucketsPerNat;
    return below < kBuckets - 1 ? static_cast<int>(below) : kBuckets - 1;
  };
  masses_.assign(kBuckets, 0.0);
  for (const Candidate& c : candidates_) {
    masses_[static_cast<size_t>(bucket(c))] += c.weight;
  }
  int boundary = 0;
  double held = 0.0; // weight of what is certainly kept, [begin, low)
  while (boundary < kBuckets - 1 &&
         held + masses_[static_cast<size_t>(boundary)] < target) {
    held += masses_[static_cast<size_t>(boundary++)];
  }
  const auto begin = candidates_.begin();
  auto low = std::partition(begin, candidates_.end(), [&](const auto& c) {
    return bucket(c) < boundary;
  });
  auto high = std::partition(low, candidates_.end(), [&](const auto& c) {
    return bucket(c) == boundary;
  });
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    std::nth_element(low, middle, high, before);
    double half = 0.0;
    for (auto c = low; c != middle; ++c) {
      half += c->weight;
    }
    if (held + half >= target) {
      high = middle;
    } else {
      held += half;
      low = middle;
    }
  }
  candidates_.erase(high, candidates_.end());
}

/// Weighs all candidates and returns the total.
double Sampler::weigh_candidates(float scale) {
  weights_.resize(std::max(weights_.size(), candidates_.size()));
  const auto weights = std::span(weights_).first(candidates_.size());
  for (size_t i = 0; i < candidates_.size(); ++i) {
    weights[i] = candidates_[i].logit;
  }
  cpu::exp_weights(weights, {max_, scale}, weights.data(), path_);
  double total = 0.0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    candidates_[i].weight = weights[i];
    total += weights[i];
  }
  return total;
}

void Sampler::keep_min_p(std::span<const float> logits) {
  const auto threshold =
      max_ + static_cast<float>(std::log(options_.min_p)); // -inf for 0
  if (candidates_.empty()) {
    collect(logits, threshold);
  } else {
    std::erase_if(candidates_, [threshold](const Candidate& c) {
      return c.logit < threshold;
    });
  }
}

float Sampler::inverse_temperature() const {
  return static_cast<float>(1.0 / std::max(options_.temperature, 1e-30));
}

/// Block sums of exp(scale * (logit - max)), and their total.
double Sampler::weigh(std::span<const float> logits, float scale) {
  cpu::block_exp_sums(logits, {max_, scale}, sums_.data(), path_);
  double total = 0.0;
  for (const float sum : sums_) {
    total += sum;
  }
  return total;
}

int32_t Sampler::draw_any(std::span<const float> logits, double u) {
  const float scale = inverse_temperature();
  double rest = u * weigh(logits, scale);
  size_t block = 0;
  size_t last = 0; // block with any weight
  for (; block < sums_.size() && rest >= sums_[block]; ++block) {
    rest -= sums_[block];
    last = sums_[block] > 0.0f ? block : last;
  }
  block = block < sums_.size() ? block : last;

  const auto first = block * static_cast<size_t>(cpu::kSampleBlock);
  const auto tokens = logits.subspan(
      first,
      std::min(static_cast<size_t>(cpu::kSampleBlock), logits.size() - first));
  cpu::exp_weights(tokens, {max_, scale}, weights_.data(), path_);
  size_t chosen = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (weights_[i] > 0.0f) {
      chosen = i;
      if (rest < weights_[i]) {
        break;
      }
      rest -= weights_[i];
    }
  }
  return static_cast<int32_t>(first + chosen);
}

int32_t Sampler::draw_candidate(double u) {
  double rest = u * weigh_candidates(inverse_temperature());
  int32_t chosen = candidates_.front().id;
  for (const Candidate& c : candidates_) {
    if (c.weight > 0.0f) {
      chosen = c.id;
      if (rest < c.weight) {
        break;
      }
      rest -= c.weight;
    }
  }
  return chosen;
}

TokenLogprobs
Sampler::logprobs(std::span<const float> logits, int32_t id, int64_t top) {
  find_maximum(logits);
  const double log_total = std::log(weigh(logits, 1.0f)) + max_;
  TokenLogprobs result;
  result.chosen = {id, logits[static_cast<size_t>(id)] - log_total};
  if (top > 0) {
    candidates_.clear();
    keep_top_k(logits, std::min(top, vocab_));
    std::sort(candidates_.begin(), candidates_.end(), before);
    for (const Candidate& c : candidates_) {
      result.top.push_back({c.id, c.logit - log_total});
    }
  }
  return result;
}

} // namespace holdfast
