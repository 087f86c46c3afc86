// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/state.h"

#include "holdfast/state/state_impl.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

std::vector<LayerState> layer_states(const StateOptions& options) {
  expect(
      options.keys != nullptr && options.values != nullptr,
      "[State] expected a codec for keys and one for values");
  expect(options.runtime.executor != nullptr, "[State] expected an executor");
  expect(
      options.max_bytes >= Bytes(0),
      "[State] expected max_bytes of 0 (no limit) or more");
  std::vector<LayerState> layers;
  for (const AttentionSpec& spec : options.layers) {
    layers.push_back({spec, options.keys, options.values});
  }
  return layers;
}

} // namespace

State::Impl::Impl(StateOptions given)
    : options(std::move(given)),
      groups(layer_states(options)),
      pool(
          groups.image_bytes(),
          options.max_bytes == Bytes(0) ? kUnlimitedBytes : options.max_bytes),
      chains(pool, groups.retentions()),
      stream(mx::new_thread_unsafe_stream(mx::Device::cpu)) {
  for (int64_t i = 0; i < groups.layers(); ++i) {
    const LayerPlace place = groups.place(LayerIndex(i));
    auto layer = std::make_shared<const LayerRead>(LayerRead{
        .spec = options.layers[i],
        .keys = options.keys,
        .values = options.values,
        .layout = groups.group(place.group).layout,
        .layer = i,
        .group = place.group,
        .layer_in_group = place.layer,
        .runtime = options.runtime});
    reads.push_back(select_read(*layer, options.reference_read));
    layers.push_back(std::move(layer));
  }
}

State::State(StateOptions options)
    : impl_(std::make_shared<Impl>(std::move(options))) {}
State::~State() = default;

RowId State::add_row() {
  return impl_->chains.add();
}

bool State::remove_row(RowId row) {
  return impl_->chains.remove(row);
}

RowId State::fork_row(RowId row) {
  return impl_->chains.fork(row);
}

void State::trim(RowId row, Position length) {
  impl_->chains.trim(row, length);
}

Position State::length(RowId row) const {
  return impl_->chains.chain(row).committed();
}

Step State::begin(std::span<const RowAppend> rows) {
  return Step(std::make_unique<Step::Impl>(impl_, rows));
}

Bytes State::bytes() const {
  return impl_->pool.live_bytes();
}

Bytes State::peak_bytes() const {
  return impl_->pool.peak_bytes();
}

Bytes State::bytes_per_token() const {
  return impl_->groups.bytes_per_token();
}

std::string State::explain() const {
  std::string text;
  for (size_t i = 0; i < impl_->reads.size(); ++i) {
    text += "layer " + std::to_string(i) + ": " + impl_->reads[i].why + "\n";
  }
  return text;
}

const StateOptions& State::options() const {
  return impl_->options;
}

mx::Stream State::stream() const {
  return impl_->stream;
}

} // namespace holdfast
