// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/padded_arrays.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "mlx/ops.h"

#include "holdfast/base/check.h"
#include "holdfast/rows/chain.h"

namespace holdfast {

namespace mx = mlx::core;

namespace {

constexpr int32_t kNone = -1;

mx::array indices(const std::vector<int32_t>& values) {
  return mx::array(
      values.data(), mx::Shape{static_cast<int>(values.size())}, mx::int32);
}

/// x [a, b, ...] -> [a * b, ...].
mx::array flat(const mx::array& x, mx::Stream stream) {
  mx::Shape shape(x.shape().begin() + 1, x.shape().end());
  shape[0] = x.shape(0) * x.shape(1);
  return mx::reshape(x, shape, stream);
}

/// [batch, columns] has places enough, and no more than there are numbers.
bool counts(int64_t batch, int64_t columns) {
  constexpr int64_t kMost = kMaxPositions.get();
  return batch >= 0 && columns >= 0 && batch <= kMost && columns <= kMost &&
      batch * columns <= kMost;
}

/// Throws unless the piece is of [batch, columns], its places within.
void require_places(
    const char* where,
    const PaddedPiece& piece,
    int64_t batch,
    int64_t columns) {
  const bool fits = piece.batch == batch && piece.columns == columns &&
      counts(batch, columns) &&
      std::ranges::all_of(piece.places, [&](int32_t place) {
                      return place >= 0 && place < batch * columns;
                    });
  if (fits) {
    return;
  }
  std::ostringstream text;
  text << where << " expected " << batch << " rows of " << columns
       << " columns and places in them, got a piece of " << piece.batch
       << " rows of " << piece.columns;
  throw Error(ErrorCode::kInvalidArgument, text.str());
}

} // namespace

mx::array
gather_tokens(const mx::array& x, const PaddedPiece& piece, mx::Stream stream) {
  expect(x.ndim() >= 2, "[gather_tokens] expected [B, columns, ...], got less");
  require_places("[gather_tokens]", piece, x.shape(0), x.shape(1));
  return mx::take(flat(x, stream), indices(piece.places), 0, stream);
}

mx::array
gather_heads(const mx::array& x, const PaddedPiece& piece, mx::Stream stream) {
  expect(
      x.ndim() == 4, "[gather_heads] expected [B, H, columns, D], got another");
  require_places("[gather_heads]", piece, x.shape(0), x.shape(2));
  return gather_tokens(mx::swapaxes(x, 1, 2, stream), piece, stream);
}

PaddedOutput::PaddedOutput(int64_t batch, int64_t columns)
    : batch_(batch), columns_(columns) {
  expect(
      counts(batch, columns),
      "[padded] expected 0 to kMaxPositions places, got another number");
  sources_.resize(static_cast<size_t>(batch * columns), kNone);
}

void PaddedOutput::add(const PaddedPiece& piece, mx::array ragged) {
  expect(
      ragged.ndim() >= 1 && ragged.shape(0) == std::ssize(piece.places),
      "[padded] expected an output a token of the piece, got another number");
  expect(
      parts_.empty() ||
          (ragged.dtype() == parts_[0].dtype() &&
           std::equal(
               ragged.shape().begin() + 1,
               ragged.shape().end(),
               parts_[0].shape().begin() + 1,
               parts_[0].shape().end())),
      "[padded] expected outputs of one shape and type, got another");
  require_places("[padded]", piece, batch_, columns_);
  std::vector<int32_t> sources = sources_;
  int32_t tokens = tokens_;
  for (const int32_t place : piece.places) {
    int32_t& source = sources[static_cast<size_t>(place)];
    expect(
        source == kNone,
        "[padded] expected places without an output, got one that has it");
    source = tokens++;
  }
  sources_ = std::move(sources);
  tokens_ = tokens;
  parts_.push_back(std::move(ragged));
}

mx::array PaddedOutput::tokens(mx::Stream stream) const {
  expect(!parts_.empty(), "[padded] expected the output of a piece, got none");
  // One row of zeros behind the tokens, for the padding.
  mx::Shape shape = parts_.front().shape();
  shape[0] = 1;
  std::vector<mx::array> parts = parts_;
  parts.push_back(mx::zeros(shape, parts_.front().dtype(), stream));
  std::vector<int32_t> sources = sources_;
  std::ranges::replace(sources, kNone, tokens_);
  shape[0] = static_cast<int>(columns_);
  shape.insert(shape.begin(), static_cast<int>(batch_));
  return mx::reshape(
      mx::take(mx::concatenate(parts, 0, stream), indices(sources), 0, stream),
      shape,
      stream);
}

mx::array PaddedOutput::heads(mx::Stream stream) const {
  return mx::swapaxes(tokens(stream), 1, 2, stream);
}

} // namespace holdfast
