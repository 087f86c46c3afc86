// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/latent.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/env/for_path.h"
#include "holdfast/kernels/cpu/attend_visible.h"
#include "holdfast/kernels/cpu/latent_kernels.h"
#include "holdfast/kernels/cpu/latent_plan.h"

namespace holdfast::cpu {

namespace {

const LatentKernels& kernels_of(KernelPath path) {
  return for_path<
      latent_kernels_avx512,
      latent_kernels_avx512,
      latent_kernels_vec256,
      latent_kernels_plain>(path)();
}

void append(const LatentJob& job) {
  const AttentionSpec& spec = *job.spec;
  for (size_t r = 0; r < job.rows.size(); ++r) {
    const RowSpan& row = job.rows[r];
    const RowBlocks& blocks = job.blocks[r];
    const GroupPhase& phase = job.phases[static_cast<size_t>(blocks.phase)];
    for (int64_t t = 0; t < row.count; ++t) {
      const int64_t position = row.start + t;
      std::byte* image =
          blocks.images[static_cast<size_t>(position / kBlockTokens)];
      const auto encode =
          [&](ChannelRole role, const float* from, int64_t dim) {
            phase.codec(role).encode(
                role,
                {from + (row.first_token + t) * dim, static_cast<size_t>(dim)},
                position % kBlockTokens,
                phase.planes(image, job.layer, 0, role));
          };
      encode(ChannelRole::kKeys, job.k, spec.key_dim);
      encode(ChannelRole::kValues, job.v, spec.value_dim);
    }
  }
}

/// A token of a piece.
struct Query {
  int64_t row = 0; // of the batch
  int64_t token = 0; // in [T]
  int64_t begin = 0; // the positions [begin, end) that it sees
  int64_t end = 0;
};

class PieceRun {
 public:
  PieceRun(
      const LatentJob& job,
      const LatentPiece& piece,
      const LatentKernels& kernels)
      : job_(job),
        spec_(*job.spec),
        piece_(piece),
        kernels_(kernels),
        latents_(static_cast<size_t>(kBlockTokens * spec_.value_dim)),
        keys_(static_cast<size_t>(kBlockTokens * spec_.key_dim)) {
    for (const LatentTokens& tokens : piece.rows) {
      for (int64_t t = 0; t < tokens.count; ++t) {
        queries_.push_back(query(tokens.row, tokens.first + t));
      }
    }
    const size_t results = queries_.size() * static_cast<size_t>(piece.heads);
    max_.assign(results, -std::numeric_limits<float>::infinity());
    sum_.assign(results, 0.0f);
  }

  void run() {
    const int64_t all = std::ssize(queries_);
    read_blocks(0, all, {0, piece_.shared_end});
    int64_t first = 0;
    for (const LatentTokens& tokens : piece_.rows) {
      read_blocks(
          first,
          first + tokens.count,
          {piece_.shared_end, std::numeric_limits<int64_t>::max()});
      first += tokens.count;
    }
    for (int64_t i = 0; i < all; ++i) {
      for (int64_t h = 0; h < piece_.heads; ++h) {
        kernels_.finish(out(i, h), sum_[index(i, h)], spec_.value_dim);
      }
    }
  }

 private:
  struct Blocks {
    int64_t begin, end;
  };

  Query query(int64_t row, int64_t t) const {
    const RowSpan& span = job_.rows[static_cast<size_t>(row)];
    const int64_t position = span.start + t;
    return {
        .row = row,
        .token = span.first_token + t,
        .begin = latent_begin(spec_, span, position),
        .end = end_seen(
            spec_.visibility, sight_at(spec_.visibility, span, position))};
  }

  /// What the queries [first, last) see of these blocks, each decoded once from
  /// the first query's row.
  void read_blocks(int64_t first, int64_t last, Blocks blocks) {
    int64_t begin = std::numeric_limits<int64_t>::max();
    int64_t end = 0;
    for (int64_t i = first; i < last; ++i) {
      begin = std::min(begin, queries_[static_cast<size_t>(i)].begin);
      end = std::max(end, queries_[static_cast<size_t>(i)].end);
    }
    blocks.begin = std::max(blocks.begin, begin / kBlockTokens);
    blocks.end = std::min(blocks.end, ceil_div(end, kBlockTokens));
    for (int64_t b = blocks.begin; b < blocks.end; ++b) {
      const int64_t at = b * kBlockTokens;
      decode(
          job_.blocks[static_cast<size_t>(
              queries_[static_cast<size_t>(first)].row)],
          b,
          std::min(end - at, kBlockTokens));
      for (int64_t i = first; i < last; ++i) {
        const Query& query = queries_[static_cast<size_t>(i)];
        const int64_t from = std::max(query.begin - at, int64_t{0});
        const int64_t to = std::min(query.end - at, kBlockTokens);
        for (int64_t h = 0; from < to && h < piece_.heads; ++h) {
          read(i, h, from, to);
        }
      }
    }
  }
  size_t index(int64_t i, int64_t h) const {
    return static_cast<size_t>(i * piece_.heads + h);
  }
  int64_t query_head(int64_t i, int64_t h) const {
    return queries_[static_cast<size_t>(i)].token * spec_.query_heads +
        piece_.head + h;
  }
  float* out(int64_t i, int64_t h) const {
    return job_.out + query_head(i, h) * spec_.value_dim;
  }

  void decode(const RowBlocks& blocks, int64_t b, int64_t slots) {
    const std::byte* image = blocks.images[static_cast<size_t>(b)];
    ensure(
        image != nullptr,
        "[latent] expected an image for each block that a query sees, got "
        "none");
    const GroupPhase& phase = job_.phases[static_cast<size_t>(blocks.phase)];
    const auto channel = [&](ChannelRole role, float* to, int64_t dim) {
      const auto planes = phase.planes(image, job_.layer, 0, role);
      for (int64_t slot = 0; slot < slots; ++slot) {
        phase.codec(role).decode(
            role, planes, slot, {to + slot * dim, static_cast<size_t>(dim)});
      }
    };
    channel(ChannelRole::kValues, latents_.data(), spec_.value_dim);
    channel(ChannelRole::kKeys, keys_.data(), spec_.key_dim);
  }

  void read(int64_t i, int64_t h, int64_t first, int64_t end) {
    kernels_.block(
        {.q = job_.q + query_head(i, h) * spec_.query_dim(),
         .latents = latents_.data(),
         .keys = keys_.data(),
         .value_dim = spec_.value_dim,
         .key_dim = spec_.key_dim,
         .first = first,
         .end = end,
         .scale = spec_.scale,
         .out = out(i, h),
         .max = &max_[index(i, h)],
         .sum = &sum_[index(i, h)]});
  }

  const LatentJob& job_;
  const AttentionSpec& spec_;
  const LatentPiece& piece_;
  const LatentKernels& kernels_;
  std::vector<Query> queries_; // row by row
  std::vector<float> latents_;
  std::vector<float> keys_;
  std::vector<float> max_; // [query][head]
  std::vector<float> sum_;
};

} // namespace

Status supports_latent(const AttentionSpec& spec) {
  const char* reason = nullptr;
  if (!spec.latent) {
    reason = "expected a latent, got keys apart from values";
  } else if (
      spec.softcap != 0.0f || !spec.sink_logits.empty() ||
      spec.visibility.sinks != 0) {
    reason = "expected no soft cap and no sinks over a latent, got some";
  } else if (spec.key_dim % 16 != 0 || spec.value_dim % 16 != 0) {
    reason = "expected dims that are multiples of 16, got another";
  }
  return reason ? Status(ErrorCode::kUnsupported, reason) : Status();
}

void append_and_attend_latent(
    const LatentJob& job,
    Executor& executor,
    KernelPath path) {
  supports_latent(*job.spec).check();
  if (job.k != nullptr) {
    append(job);
  }
  const LatentKernels& kernels = kernels_of(path);
  const std::vector<LatentPiece> pieces = plan_latent(job, executor.threads());
  executor.for_each(std::ssize(pieces), [&](int64_t i, int) {
    PieceRun(job, pieces[static_cast<size_t>(i)], kernels).run();
  });
}

} // namespace holdfast::cpu
