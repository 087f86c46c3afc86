// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// gemma3 written down plainly in doubles, one sequence from its beginning: the
// truth for tests. Any thread.

#pragma once

#include <cmath>
#include <vector>

#include "holdfast/base/bits.h"
#include "tests/models/random_source.h"

namespace holdfast::test {

using Rows = std::vector<std::vector<double>>;

class Gemma3Reference {
 public:
  explicit Gemma3Reference(const RandomSource& source)
      : source_(source), config_(source.config()) {}

  /// Logits [T][vocab] of all tokens.
  Rows logits(const std::vector<int32_t>& tokens) const {
    const auto table =
        source_.values("token_embd.weight", config_.vocab, config_.hidden);
    const double scale =
        bf16_to_f32(f32_to_bf16(std::sqrt(static_cast<float>(config_.hidden))));
    Rows x;
    for (const int32_t token : tokens) {
      std::vector<double> row(config_.hidden);
      for (int64_t i = 0; i < config_.hidden; ++i) {
        row[i] = scale * table[token * config_.hidden + i];
      }
      x.push_back(row);
    }
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      add(x, attention(layer, x));
      add(x, feed_forward(layer, x));
    }
    norm(x, "output_norm.weight", config_.hidden);
    return project(x, "token_embd.weight", config_.vocab);
  }

 private:
  static void add(Rows& x, const Rows& y) {
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t i = 0; i < x[t].size(); ++i) {
        x[t][i] += y[t][i];
      }
    }
  }

  // Norms each run of `width` elements.
  void norm(Rows& x, const std::string& name, int64_t width) const {
    const auto weight = source_.vector(name, width);
    for (auto& row : x) {
      for (size_t start = 0; start < row.size(); start += width) {
        double sum = 0;
        for (int64_t i = 0; i < width; ++i) {
          sum += row[start + i] * row[start + i];
        }
        const double factor =
            1.0 / std::sqrt(sum / double(width) + config_.norm_eps);
        for (int64_t i = 0; i < width; ++i) {
          row[start + i] *= factor * weight[i];
        }
      }
    }
  }

  Rows project(const Rows& x, const std::string& name, int64_t n) const {
    const auto k = static_cast<int64_t>(x[0].size());
    const auto weight = source_.values(name, n, k);
    Rows y(x.size(), std::vector<double>(n));
    for (size_t t = 0; t < x.size(); ++t) {
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < k; ++i) {
          y[t][j] += x[t][i] * weight[j * k + i];
        }
      }
    }
    return y;
  }

  void rope(Rows& x, double base) const {
    const int64_t half = config_.head_dim / 2;
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t h = 0; h < x[t].size(); h += config_.head_dim) {
        for (int64_t i = 0; i < half; ++i) {
          const double angle =
              double(t) * std::pow(base, -double(i) / double(half));
          double& a = x[t][h + i];
          double& b = x[t][h + half + i];
          const double turned = a * std::cos(angle) - b * std::sin(angle);
          b = b * std::cos(angle) + a * std::sin(angle);
          a = turned;
        }
      }
    }
  }

  Rows attention(int64_t layer, Rows x) const {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    const bool full = (layer + 1) % 6 == 0;
    const int64_t dim = config_.head_dim;
    norm(x, blk + "attn_norm.weight", config_.hidden);
    Rows q = project(x, blk + "attn_q.weight", config_.query_heads * dim);
    Rows k = project(x, blk + "attn_k.weight", config_.kv_heads * dim);
    const Rows v = project(x, blk + "attn_v.weight", config_.kv_heads * dim);
    norm(q, blk + "attn_q_norm.weight", dim);
    norm(k, blk + "attn_k_norm.weight", dim);
    rope(q, full ? config_.rope_base : 1e4);
    rope(k, full ? config_.rope_base : 1e4);
    Rows out(x.size(), std::vector<double>(config_.query_heads * dim));
    for (int64_t t = 0; t < static_cast<int64_t>(x.size()); ++t) {
      const int64_t first =
          full ? 0 : std::max<int64_t>(0, t - config_.window + 1);
      for (int64_t h = 0; h < config_.query_heads; ++h) {
        const int64_t g = h / (config_.query_heads / config_.kv_heads);
        double total = 0;
        for (int64_t s = first; s <= t; ++s) {
          double score = 0;
          for (int64_t i = 0; i < dim; ++i) {
            score += q[t][h * dim + i] * k[s][g * dim + i];
          }
          const double p = std::exp(score / std::sqrt(double(dim)));
          total += p;
          for (int64_t i = 0; i < dim; ++i) {
            out[t][h * dim + i] += p * v[s][g * dim + i];
          }
        }
        for (int64_t i = 0; i < dim; ++i) {
          out[t][h * dim + i] /= total;
        }
      }
    }
    Rows y = project(out, blk + "attn_output.weight", config_.hidden);
    norm(y, blk + "post_attention_norm.weight", config_.hidden);
    return y;
  }

  Rows feed_forward(int64_t layer, Rows x) const {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    norm(x, blk + "ffn_norm.weight", config_.hidden);
    Rows gate = project(x, blk + "ffn_gate.weight", config_.ffn);
    const Rows up = project(x, blk + "ffn_up.weight", config_.ffn);
    for (size_t t = 0; t < gate.size(); ++t) {
      for (size_t i = 0; i < gate[t].size(); ++i) {
        const double g = gate[t][i];
        const double inner = std::sqrt(2 / M_PI) * (g + 0.044715 * g * g * g);
        gate[t][i] = 0.5 * g * (1 + std::tanh(inner)) * up[t][i];
      }
    }
    Rows y = project(gate, blk + "ffn_down.weight", config_.hidden);
    norm(y, blk + "post_ffw_norm.weight", config_.hidden);
    return y;
  }

  const RandomSource& source_;
  const ModelConfig config_;
};

} // namespace holdfast::test
