// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/padded_arrays.h"

#include <utility>

#include "mlx/ops.h"

#include "holdfast/base/check.h"

namespace holdfast {

namespace mx = mlx::core;

namespace {

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

} // namespace

mx::array
gather_tokens(const mx::array& x, const PaddedPiece& piece, mx::Stream stream) {
  expect(x.ndim() >= 2, "[gather_tokens] expected [B, columns, ...], got less");
  return mx::take(flat(x, stream), indices(piece.places), 0, stream);
}

mx::array
gather_heads(const mx::array& x, const PaddedPiece& piece, mx::Stream stream) {
  expect(
      x.ndim() == 4, "[gather_heads] expected [B, H, columns, D], got another");
  return gather_tokens(mx::swapaxes(x, 1, 2, stream), piece, stream);
}

void PaddedOutput::add(const PaddedPiece& piece, mx::array ragged) {
  expect(
      ragged.ndim() >= 1 && ragged.shape(0) == std::ssize(piece.places),
      "[padded] expected an output a token of the piece, got another number");
  places_.insert(places_.end(), piece.places.begin(), piece.places.end());
  parts_.push_back(std::move(ragged));
}

mx::array PaddedOutput::tokens(mx::Stream stream) const {
  expect(!parts_.empty(), "[padded] expected the output of a piece, got none");
  // One row of zeros behind the tokens, for the padding.
  mx::Shape shape = parts_.front().shape();
  shape[0] = 1;
  std::vector<mx::array> parts = parts_;
  parts.push_back(mx::zeros(shape, parts_.front().dtype(), stream));
  std::vector<int32_t> sources(
      static_cast<size_t>(batch_ * columns_),
      static_cast<int32_t>(places_.size()));
  for (size_t i = 0; i < places_.size(); ++i) {
    sources.at(static_cast<size_t>(places_[i])) = static_cast<int32_t>(i);
  }
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
