// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/step.h"

#include <algorithm>
#include <exception>
#include <string>

#include "mlx/transforms.h"

#include "holdfast/state/drain.h"
#include "holdfast/state/require_shape.h"
#include "holdfast/state/state_impl.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

// Evaluates an output of the step of `run`. What a sibling's step left with the
// stream may come up here: that is not this one's failure.
void evaluate(const mx::array& output, const StepRun& run, mx::Stream stream) {
  try {
    mx::eval({output});
  } catch (const std::exception&) {
    drain(stream);
    run.rethrow_failure();
    mx::eval({output});
  }
}

} // namespace

Transaction
Step::Impl::begin(State::Impl& state, std::span<const RowAppend> rows) {
  Chains& chains = state.chains;
  const RowsChange change = state.rows_change();
  const auto due = [&](const RowAppend& append) {
    return chains.contains(append.row) && chains.chain(append.row).due();
  };
  if (std::any_of(rows.begin(), rows.end(), due)) {
    drain(state.core->stream);
  }
  return chains.begin(rows);
}

Step::Impl::Impl(
    std::shared_ptr<State::Impl> of,
    std::span<const RowAppend> rows)
    : state(std::move(of)),
      transaction(begin(*state, rows)),
      run(std::make_shared<StepRun>(
          transaction.plan(),
          core().groups.layers())),
      handle(
          {core().cell,
           run,
           mx::array(&run->plan().generation, mx::Shape{1}, mx::uint64)}),
      positions(
          transaction.plan()->positions.data(),
          mx::Shape{static_cast<int>(transaction.plan()->tokens)},
          mx::int32),
      attended(core().groups.layers()),
      outputs(core().groups.layers()) {
  core().cell->open(run);
}

void Step::Impl::end() noexcept {
  run->end();
  core().cell->close(run->plan().generation);
}

void Step::Impl::forget() noexcept {
  last.reset();
  tokens.reset();
  outputs.clear();
}

void Step::Impl::settle() noexcept {
  end();
  drain(core().stream);
}

void Step::Impl::require_open() const {
  expect(
      transaction.open(),
      "[Step] expected an open step, got one that was committed or rolled back",
      ErrorCode::kStale);
}

size_t Step::Impl::require_turn(LayerIndex layer, const char* where) const {
  require_open();
  const int64_t index = layer.get();
  if (index < 0 || index >= core().groups.layers() || attended[index]) {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string(where) +
            " expected a layer of the state, each once in a step, got layer " +
            std::to_string(index));
  }
  return static_cast<size_t>(index);
}

Step::Step(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Step::Step(Step&&) noexcept = default;

Step::~Step() {
  if (impl_ != nullptr) {
    rollback();
  }
}

int64_t Step::tokens() const {
  return impl_->run->plan().tokens;
}

mx::Stream Step::stream() const {
  return impl_->core().stream;
}

const mx::array& Step::positions() const {
  return impl_->positions;
}

mx::array Step::token_ids(std::span<const int32_t> ids) const {
  expect(
      std::ssize(ids) == tokens(),
      "[Step] expected as many tokens as the step has");
  if (!impl_->tokens) {
    impl_->tokens = mx::array(
        ids.data(), mx::Shape{static_cast<int>(ids.size())}, mx::int32);
  }
  return *impl_->tokens;
}

mx::array Step::attend(
    LayerIndex layer,
    const mx::array& q,
    const mx::array& k,
    const mx::array& v) {
  const size_t index = impl_->require_turn(layer, "[Step::attend]");
  const auto& read = impl_->core().layers[index];
  expect(
      read != nullptr,
      "[Step::attend] expected a layer of attention, got a recurrent one");
  expect(
      !read->spec.donor,
      "[Step::attend] expected a layer that stores keys and values, got one "
      "with a donor");
  const AttentionSpec& spec = read->spec;
  const auto shape = [&](int64_t heads, int64_t dim) {
    return mx::Shape{
        static_cast<int>(tokens()),
        static_cast<int>(heads),
        static_cast<int>(dim)};
  };
  require_shape(
      "[Step::attend]", "q", q, shape(spec.query_heads, spec.query_dim()));
  require_shape("[Step::attend]", "k", k, shape(spec.kv_heads, spec.key_dim));
  require_shape("[Step::attend]", "v", v, shape(spec.kv_heads, spec.value_dim));
  auto out = impl_->core().reads[index].read->attend(
      read, impl_->handle, {q, k, v}, impl_->core().stream);
  impl_->attended[index] = true;
  if (impl_->core().donors[index]) {
    impl_->outputs[index] = out;
  }
  impl_->last = out;
  return out;
}

mx::array Step::attend_donor(LayerIndex layer, const mx::array& q) {
  const size_t index = impl_->require_turn(layer, "[Step::attend_donor]");
  const auto& read = impl_->core().layers[index];
  expect(
      read != nullptr && read->spec.donor,
      "[Step::attend_donor] expected a layer with a donor, got another");
  const AttentionSpec& spec = read->spec;
  const auto& source = impl_->outputs[static_cast<size_t>(spec.donor->get())];
  expect(
      source.has_value(),
      "[Step::attend_donor] expected the donor to come first in the step");
  require_shape(
      "[Step::attend_donor]",
      "q",
      q,
      {static_cast<int>(tokens()),
       static_cast<int>(spec.query_heads),
       static_cast<int>(spec.query_dim())});
  auto out = impl_->core().reads[index].read->attend_donor(
      read, impl_->handle, {q, *source}, impl_->core().stream);
  impl_->attended[index] = true;
  impl_->last = out;
  return out;
}

mx::array Step::recur(
    LayerIndex layer,
    const std::shared_ptr<const cpu::GatedDelta>& weights,
    const mx::array& inputs) {
  const size_t index = impl_->require_turn(layer, "[Step::recur]");
  const auto& recurrent = impl_->core().recurrent[index];
  expect(
      recurrent != nullptr,
      "[Step::recur] expected a recurrent layer, got one of attention");
  auto out = holdfast::recur(
      recurrent, impl_->handle, weights, inputs, impl_->core().stream);
  impl_->attended[index] = true;
  impl_->last = out;
  return out;
}

void Step::commit(std::span<const int64_t> accepted) {
  impl_->require_open();
  try {
    impl_->run->require_live();
    if (impl_->last) {
      evaluate(*impl_->last, *impl_->run, impl_->core().stream);
      impl_->run->rethrow_failure();
    }
    for (int64_t i = 0; i < impl_->core().groups.layers(); ++i) {
      if (impl_->core().groups.stores(LayerIndex(i)) &&
          !impl_->run->finished(i)) {
        throw Error(
            ErrorCode::kInvalidArgument,
            "[Step::commit] expected every layer to have been written, got "
            "none of layer " +
                std::to_string(i));
      }
    }
    impl_->transaction.require_intact();
  } catch (...) {
    rollback();
    throw;
  }
  impl_->transaction.require_counts(accepted);
  // A layer that nothing here waited for may be at work in the blocks that the
  // commit lets go.
  impl_->end();
  impl_->transaction.commit(accepted);
  impl_->forget();
}

void Step::commit_all() {
  std::vector<int64_t> accepted;
  for (const RowSpan& row : impl_->run->plan().rows) {
    accepted.push_back(row.count);
  }
  commit(accepted);
}

void Step::rollback() {
  if (!impl_->transaction.open()) {
    return;
  }
  impl_->settle();
  impl_->forget();
  impl_->transaction.rollback();
}

} // namespace holdfast
