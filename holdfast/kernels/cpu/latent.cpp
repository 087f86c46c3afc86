// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/latent.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/attend_visible.h"
#include "holdfast/kernels/cpu/latent_kernels.h"

namespace holdfast::cpu {

namespace {

/// Queries that share a decoded block: neighbouring tokens, some heads each.
constexpr int64_t kPieceTokens = 16;

const LatentKernels& kernels_of(KernelPath path) {
#if defined(__x86_64__)
  if (path <= KernelPath::kAvx512) {
    return latent_kernels_avx512();
  }
  if (path == KernelPath::kAvx2) {
    return latent_kernels_avx2();
  }
#endif
  (void)path;
  return latent_kernels_plain();
}

struct Piece {
  int64_t row = 0;
  int64_t token = 0; // first, within the row's
  int64_t tokens = 0;
  int64_t head = 0; // first
  int64_t heads = 0;
};

std::vector<Piece> pieces_of(const LatentJob& job, int threads) {
  // Few tokens: each thread takes some of the heads.
  const int64_t heads = job.spec->query_heads;
  int64_t whole = 0; // pieces of all heads
  for (const RowSpan& row : job.rows) {
    whole += ceil_div(row.count, kPieceTokens);
  }
  const int64_t parts = std::clamp<int64_t>(
      ceil_div(threads, std::max<int64_t>(whole, 1)), 1, heads);
  const int64_t part_heads = ceil_div(heads, parts);
  std::vector<Piece> pieces;
  for (size_t r = 0; r < job.rows.size(); ++r) {
    const int64_t count = job.rows[r].count;
    for (int64_t t = 0; t < count; t += kPieceTokens) {
      for (int64_t h = 0; h < heads; h += part_heads) {
        pieces.push_back(
            {.row = static_cast<int64_t>(r),
             .token = t,
             .tokens = std::min(kPieceTokens, count - t),
             .head = h,
             .heads = std::min(part_heads, heads - h)});
      }
    }
  }
  return pieces;
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

class PieceRun {
 public:
  PieceRun(
      const LatentJob& job,
      const Piece& piece,
      const LatentKernels& kernels)
      : job_(job),
        spec_(*job.spec),
        row_(job.rows[static_cast<size_t>(piece.row)]),
        blocks_(job.blocks[static_cast<size_t>(piece.row)]),
        piece_(piece),
        kernels_(kernels),
        latents_(static_cast<size_t>(kBlockTokens * spec_.value_dim)),
        keys_(static_cast<size_t>(kBlockTokens * spec_.key_dim)),
        max_(
            static_cast<size_t>(piece.tokens * piece.heads),
            -std::numeric_limits<float>::infinity()),
        sum_(max_.size()) {}

  void run() {
    const Seen first = seen_by(0);
    const Seen last = seen_by(piece_.tokens - 1);
    for (int64_t b = first.begin / kBlockTokens; b * kBlockTokens < last.end;
         ++b) {
      const int64_t begin = b * kBlockTokens;
      decode(b, std::min(last.end - begin, kBlockTokens));
      for (int64_t t = 0; t < piece_.tokens; ++t) {
        const Seen seen = seen_by(t);
        const int64_t from = std::max(seen.begin - begin, int64_t{0});
        const int64_t to = std::min(seen.end - begin, kBlockTokens);
        for (int64_t h = 0; from < to && h < piece_.heads; ++h) {
          read(t, h, from, to);
        }
      }
    }
    for (int64_t t = 0; t < piece_.tokens; ++t) {
      for (int64_t h = 0; h < piece_.heads; ++h) {
        kernels_.finish(out(t, h), sum_[index(t, h)], spec_.value_dim);
      }
    }
  }

 private:
  /// The positions [begin, end) that a token of the piece sees.
  struct Seen {
    int64_t begin;
    int64_t end;
  };
  Seen seen_by(int64_t t) const {
    const int64_t position = row_.start + piece_.token + t;
    const int64_t window = spec_.visibility.window;
    const Sight sight = sight_at(spec_.visibility, row_, position);
    return window == 0 ? Seen{sight.begin, sight.end}
                       : Seen{
                             std::max(position - window + 1, sight.begin),
                             std::min(position + window, sight.end)};
  }
  size_t index(int64_t t, int64_t h) const {
    return static_cast<size_t>(t * piece_.heads + h);
  }
  int64_t query(int64_t t, int64_t h) const {
    return (row_.first_token + piece_.token + t) * spec_.query_heads +
        piece_.head + h;
  }
  float* out(int64_t t, int64_t h) const {
    return job_.out + query(t, h) * spec_.value_dim;
  }

  void decode(int64_t b, int64_t slots) {
    const std::byte* image = blocks_.images[static_cast<size_t>(b)];
    ensure(
        image != nullptr,
        "[latent] expected an image for each block that a query sees, got "
        "none");
    const GroupPhase& phase = job_.phases[static_cast<size_t>(blocks_.phase)];
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

  void read(int64_t t, int64_t h, int64_t first, int64_t end) {
    kernels_.block(
        {.q = job_.q + query(t, h) * spec_.query_dim(),
         .latents = latents_.data(),
         .keys = keys_.data(),
         .value_dim = spec_.value_dim,
         .key_dim = spec_.key_dim,
         .first = first,
         .end = end,
         .scale = spec_.scale,
         .out = out(t, h),
         .max = &max_[index(t, h)],
         .sum = &sum_[index(t, h)]});
  }

  const LatentJob& job_;
  const AttentionSpec& spec_;
  const RowSpan& row_;
  const RowBlocks& blocks_;
  const Piece& piece_;
  const LatentKernels& kernels_;
  std::vector<float> latents_;
  std::vector<float> keys_;
  std::vector<float> max_; // [token][head]
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
  const std::vector<Piece> pieces = pieces_of(job, executor.threads());
  executor.for_each(std::ssize(pieces), [&](int64_t i, int) {
    PieceRun(job, pieces[static_cast<size_t>(i)], kernels).run();
  });
}

} // namespace holdfast::cpu
