// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/state.h"

#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/state/drain.h"
#include "holdfast/state/state_impl.h"

namespace holdfast {

namespace mx = mlx::core;

State::State(StateOptions options)
    : impl_(std::make_shared<Impl>(
          std::make_shared<StateCore>(std::move(options)))) {}
State::State(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
State::State(State&&) noexcept = default;
State::~State() = default;

RowId State::add_row() {
  return impl_->chains.add();
}

bool State::remove_row(RowId row) {
  const RowsChange change = impl_->rows_change();
  return impl_->chains.remove(row);
}

RowId State::fork_row(RowId row) {
  return impl_->chains.fork(row);
}

void State::trim(RowId row, Position length) {
  const RowsChange change = impl_->rows_change();
  impl_->chains.trim(row, length);
}

void State::filter(std::span<const RowId> keep) {
  const RowsChange change = impl_->rows_change();
  impl_->chains.filter(keep);
}

void State::reorder(std::span<const RowId> order) {
  impl_->chains.reorder(order);
}

State State::sibling() const {
  return State(std::make_shared<Impl>(impl_->core));
}

State State::extract(std::span<const RowId> rows) const {
  State result = sibling();
  result.merge(*this, rows);
  return result;
}

std::vector<RowId>
State::merge(const State& source, std::span<const RowId> rows) {
  return impl_->chains.copy(source.impl_->chains, rows);
}

std::vector<RowId> State::take(State& source, std::span<const RowId> rows) {
  const RowsChange change = source.impl_->rows_change();
  return impl_->chains.adopt(source.impl_->chains, rows);
}

Snapshot State::snapshot(
    RowId row,
    std::span<const int32_t> tokens,
    std::vector<Attachment> attachments) {
  // First what is refused whatever room there is: to make some may cost others
  // what they hold.
  require_tokens(tokens, length(row));
  const Bytes beside = bytes_beside_images(tokens, attachments);
  return Snapshot(
      {.tokens = {tokens.begin(), tokens.end()},
       .signature = impl_->core->signature,
       .row = impl_->chains.capture(row),
       .attachments = std::move(attachments),
       .charge = impl_->core->pool.charge(beside)});
}

RowId State::adopt(const Snapshot& snapshot) {
  if (const auto differs = signature().difference(snapshot.signature())) {
    throw Error(
        ErrorCode::kUnsupported,
        "[State::adopt] expected a snapshot of the same signature, got another "
        "(" +
            *differs + ")");
  }
  return impl_->chains.add(snapshot.row());
}

void State::keep_sealed(RowId row, bool keep) {
  impl_->chains.keep_sealed(row, keep);
}

std::vector<SealedBlock> State::take_sealed(RowId row) {
  return impl_->chains.take_sealed(row);
}

BlockRef State::adopt_image(
    int64_t group,
    int64_t phase,
    std::shared_ptr<const std::byte> image) {
  StateCore& core = *impl_->core;
  expect(
      group >= 0 && group < core.groups.size() && phase >= 0 &&
          phase < core.groups.group(group).rule.phases(),
      "[State::adopt_image] expected a layer group and a phase of it, got "
      "others");
  return core.pool.adopt(impl_->chains.kind(group, phase), std::move(image));
}

Snapshot State::assemble(
    std::span<const int32_t> tokens,
    const ChainFacts& facts,
    const std::vector<std::vector<BlockRef>>& held) {
  StateCore& core = *impl_->core;
  require_tokens(tokens, facts.committed);
  CapturedRow row = holdfast::assemble(core.groups.rules(), facts, held);
  return Snapshot(
      {.tokens = {tokens.begin(), tokens.end()},
       .signature = core.signature,
       .row = std::move(row),
       .attachments = {},
       .charge = core.pool.charge(bytes_beside_images(tokens, {}))});
}

void State::set_reclaimer(Reclaimer reclaimer) {
  impl_->core->pool.set_reclaimer(std::move(reclaimer));
}

const LayerGroups& State::groups() const {
  return impl_->core->groups;
}

std::span<const RowId> State::rows() const {
  return impl_->chains.order();
}

Position State::length(RowId row) const {
  return impl_->chains.chain(row).committed();
}

Position State::reusable_floor(RowId row) const {
  return impl_->chains.chain(row).reusable_floor();
}

Position State::reusable_length(RowId row, Position most) const {
  return impl_->chains.chain(row).reusable_length(most);
}

int64_t State::max_append(RowId row, BidirectionalSpans spans) const {
  return impl_->chains.chain(row).max_append(spans);
}

int64_t
State::fit_append(RowId row, int64_t wanted, BidirectionalSpans spans) const {
  return impl_->chains.chain(row).fit_append(wanted, spans);
}

FetchedChannels State::fetch(RowId row, LayerIndex layer) const {
  if (impl_->chains.open_generation() != 0) {
    drain(impl_->core->stream); // a layer may be writing beside what is read
  }
  return fetch_channels(impl_->chains, impl_->core->groups, row, layer);
}

Step State::begin(std::span<const RowAppend> rows) {
  return Step(std::make_unique<Step::Impl>(impl_, rows));
}

Bytes State::bytes() const {
  return impl_->core->pool.live_bytes();
}

Bytes State::peak_bytes() const {
  return impl_->core->pool.peak_bytes();
}

bool State::intact(RowId row) const {
  return impl_->chains.intact(row);
}

Bytes State::retained_bytes(RowId row) const {
  return impl_->chains.retained_bytes(row);
}

Bytes State::bytes_per_token() const {
  return impl_->core->groups.bytes_per_token();
}

Bytes State::projected_bytes(
    RowId row,
    int64_t more,
    int64_t at_once,
    BidirectionalSpans spans) const {
  return impl_->chains.projected_bytes(row, more, at_once, spans);
}

std::string State::explain() const {
  std::string text;
  const StateCore& core = *impl_->core;
  for (size_t i = 0; i < core.reads.size(); ++i) {
    text += "layer " + std::to_string(i) + ": " + core.reads[i].why;
    const LayerIndex layer(static_cast<int64_t>(i));
    if (core.layers[i] && core.groups.stores(layer)) {
      text += "; stored as " +
          describe(core.options.precision.of(static_cast<int64_t>(i)));
    }
    text += "\n";
  }
  return text;
}

const Signature& State::signature() const {
  return *impl_->core->signature;
}

const StateOptions& State::options() const {
  return impl_->core->options;
}

mx::Stream State::stream() const {
  return impl_->core->stream;
}

} // namespace holdfast
