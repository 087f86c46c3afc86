// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows of a recurrent layer over plain memory, and the same layer written down
// in doubles, one sequence from its beginning. One thread.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/recurrent.h"

namespace holdfast::test {

struct RecurrentWeights {
  RecurrentWeights(const RecurrentSpec& of, uint64_t seed) : spec(of) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& values, int64_t count) {
      values.resize(count);
      for (float& value : values) {
        value = normal(random);
      }
    };
    fill(conv, spec.key_heads * spec.head_width() * spec.taps);
    fill(a_log, spec.value_heads);
    fill(bias, spec.value_heads);
    fill(norm, spec.value_dim);
  }
  cpu::GatedDelta layer() const {
    return cpu::GatedDelta::make(spec, conv, a_log, bias, norm);
  }

  RecurrentSpec spec;
  std::vector<float> conv, a_log, bias, norm;
};

// Inputs [T, input_width] of a sequence.
inline std::vector<float>
random_inputs(const RecurrentSpec& spec, int64_t tokens, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(tokens * spec.input_width());
  for (float& value : values) {
    value = normal(random);
  }
  return values;
}

// One row's blocks, as a chain would hold them.
struct RecurrentRow {
  int64_t committed = 0;
  std::vector<std::vector<int64_t>> images; // int64 for their alignment
};

class RecurrentRig {
 public:
  RecurrentRig(
      const RecurrentWeights& weights,
      KernelPath path = best_kernel_path(),
      int threads = 2)
      : layer_(weights.layer()),
        layout_({recurrent_planes(weights.spec)}),
        path_(path),
        executor_(std::make_shared<Executor>(threads)) {}

  struct Part {
    RecurrentRow* row;
    const float* inputs; // of its next token
    int64_t count;
    int64_t accepted;
  };

  // A step over rows; their outputs one after the other.
  std::vector<float> step(const std::vector<Part>& parts) {
    const RecurrentSpec& spec = layer_.spec;
    std::vector<RowSpan> spans;
    std::vector<RowBlocks> blocks;
    std::vector<float> inputs;
    int64_t tokens = 0;
    for (const Part& part : parts) {
      RecurrentRow& row = *part.row;
      const int64_t end = row.committed + part.count;
      // New images hold anything, marks that look right among it.
      const auto words = static_cast<size_t>(layout_.bytes().get() / 8);
      row.images.resize(ceil_div(row.committed, kBlockTokens));
      while (std::ssize(row.images) < ceil_div(end, kBlockTokens)) {
        row.images.emplace_back(words, kBlockTokens * row.images.size() + 1);
      }
      RowBlocks of;
      for (auto& image : row.images) {
        of.images.push_back(
            image.empty() ? nullptr
                          : reinterpret_cast<std::byte*>(image.data()));
      }
      blocks.push_back(std::move(of));
      spans.push_back({tokens, part.count, row.committed});
      inputs.insert(
          inputs.end(),
          part.inputs,
          part.inputs + part.count * spec.input_width());
      tokens += part.count;
    }
    std::vector<float> out(tokens * spec.output_width());
    cpu::append_and_recur(
        {.layer = &layer_,
         .layout = &layout_,
         .index = 0,
         .rows = spans,
         .blocks = blocks,
         .inputs = inputs.data(),
         .out = out.data()},
        *executor_,
        path_);
    for (const Part& part : parts) {
      commit(*part.row, part.accepted);
    }
    return out;
  }

  // All of a sequence in chunks of the given size.
  std::vector<float> alone(const std::vector<float>& inputs, int64_t chunk) {
    RecurrentRow row;
    const int64_t width = layer_.spec.input_width();
    const auto tokens = static_cast<int64_t>(inputs.size()) / width;
    std::vector<float> all;
    for (int64_t done = 0; done < tokens;) {
      const int64_t count = std::min(chunk, tokens - done);
      const auto part =
          step({{&row, inputs.data() + done * width, count, count}});
      all.insert(all.end(), part.begin(), part.end());
      done += count;
    }
    return all;
  }

 private:
  // Lets go of what kRecurrentWindow lets go of.
  void commit(RecurrentRow& row, int64_t accepted) {
    row.committed += accepted;
    row.images.resize(ceil_div(row.committed, kBlockTokens));
    const int64_t behind = row.committed - kRecurrentWindow;
    for (int64_t b = 0; b < behind / kBlockTokens; ++b) {
      row.images[b] = {};
    }
  }

  cpu::GatedDelta layer_;
  ImageLayout layout_;
  KernelPath path_;
  std::shared_ptr<Executor> executor_;
};

// The layer in doubles: outputs [T, output_width].
inline std::vector<double> recurrent_reference(
    const RecurrentWeights& weights,
    const std::vector<float>& inputs) {
  const RecurrentSpec& spec = weights.spec;
  const int64_t dk = spec.key_dim;
  const int64_t dv = spec.value_dim;
  const int64_t keys = spec.key_heads * dk;
  const int64_t values = spec.value_heads * dv;
  const int64_t width = spec.input_width();
  const auto tokens = static_cast<int64_t>(inputs.size()) / width;
  std::vector<double> out(tokens * values);
  std::vector<double> state(spec.value_heads * dk * dv, 0.0);
  const auto sigmoid = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
  const auto convolved = [&](int64_t t, int64_t channel) {
    double sum = 0;
    for (int64_t j = 0; j < spec.taps; ++j) {
      const int64_t from = t - spec.taps + 1 + j;
      if (from >= 0) {
        sum += double(weights.conv[channel * spec.taps + j]) *
            inputs[from * width + channel];
      }
    }
    return sum * sigmoid(sum);
  };
  const auto unit = [&](int64_t t, int64_t channel) {
    std::vector<double> x(dk);
    double squares = 0;
    for (int64_t i = 0; i < dk; ++i) {
      x[i] = convolved(t, channel + i);
      squares += x[i] * x[i];
    }
    for (double& value : x) {
      value /= std::sqrt(squares + 1e-6);
    }
    return x;
  };
  for (int64_t t = 0; t < tokens; ++t) {
    const float* input = inputs.data() + t * width;
    for (int64_t h = 0; h < spec.value_heads; ++h) {
      const int64_t g = h / spec.sharing();
      const auto q = unit(t, g * dk);
      const auto k = unit(t, keys + g * dk);
      const float* b = input + 2 * keys + 2 * values;
      const float* a = b + spec.value_heads;
      const double beta = sigmoid(b[h]);
      const double decay = std::exp(
          -std::exp(weights.a_log[h]) *
          std::log1p(std::exp(double(a[h]) + weights.bias[h])));
      double* s = state.data() + h * dk * dv;
      double squares = 0;
      double* o = out.data() + t * values + h * dv;
      for (int64_t c = 0; c < dv; ++c) {
        double held = 0;
        for (int64_t i = 0; i < dk; ++i) {
          s[i * dv + c] *= decay;
          held += s[i * dv + c] * k[i];
        }
        const double delta =
            beta * (convolved(t, 2 * keys + h * dv + c) - held);
        o[c] = 0;
        for (int64_t i = 0; i < dk; ++i) {
          s[i * dv + c] += k[i] * delta;
          o[c] += s[i * dv + c] * q[i] / std::sqrt(double(dk));
        }
        squares += o[c] * o[c];
      }
      for (int64_t c = 0; c < dv; ++c) {
        const double z = input[2 * keys + values + h * dv + c];
        o[c] *= weights.norm[c] / std::sqrt(squares / double(dv) + 1e-6) * z *
            sigmoid(z);
      }
    }
  }
  return out;
}

} // namespace holdfast::test
