// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/layer_view.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/env/mapping_guard.h"
#include "holdfast/plan/layer_bounds.h"
#include "holdfast/state/require_shape.h"
#include "holdfast/state/state_impl.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

/// One attend(): its plan, and what keeps the images of a pinned view.
struct Attendance {
  StepPlan plan;
  std::shared_ptr<const FrozenRows> frozen;
};

[[noreturn]] void throw_cut() {
  throw Error(
      ErrorCode::kCorrupt,
      "[LayerView] expected stored images that stay as they are, got a file "
      "that was cut short while it was mapped");
}

/// The first call looks: it finds what was cut and not read since.
bool any_cut() {
  return !mappings_are_whole() || mapping_was_cut();
}

/// Throws where an image that was read lies in a file that was cut short: what
/// came of it means nothing.
void require_intact(std::span<const ViewedRow> rows) {
  if (!any_cut()) {
    return;
  }
  for (const ViewedRow& row : rows) {
    for (const std::byte* image : row.blocks.images) {
      if (image && !mapping_is_whole(image)) {
        throw_cut();
      }
    }
  }
}

/// Also of what was copied from such a file.
bool is_intact(const FrozenRows& frozen) {
  return !any_cut() ||
      std::ranges::all_of(frozen.blocks, [](const auto& blocks) {
        return std::ranges::all_of(blocks, [](const BlockRef& block) {
          return !block || block.intact();
        });
      });
}

void require_intact(const FrozenRows& frozen) {
  if (!is_intact(frozen)) {
    throw_cut();
  }
}

void require_sound(const ReaderSpec& reader, int64_t kv_heads) {
  const bool sound = reader.query_heads > 0 &&
      reader.query_heads <= kMaxHeads && reader.query_heads % kv_heads == 0 &&
      std::isfinite(reader.scale) && reader.softcap >= 0.0f &&
      in_range(reader.visibility) &&
      (reader.sink_logits.empty() ||
       std::ssize(reader.sink_logits) == reader.query_heads);
  expect(
      sound,
      "[State::view] expected query heads, at most 65536, a multiple of the "
      "layer's key-value heads, a finite scale, a soft cap of 0 or more, a "
      "window and sinks from 0 (a window of 0 sees all) to 2147483647 and a "
      "sink logit a query head or none, got another reader");
}

std::shared_ptr<const LayerRead> reader_layer(
    const StateCore& core,
    LayerIndex layer,
    const std::optional<ReaderSpec>& reader) {
  expect(
      layer >= LayerIndex(0) && layer.get() < core.groups.layers(),
      "[State::view] expected a layer of the state, got one out of range");
  const auto& of = core.layers[static_cast<size_t>(layer.get())];
  expect(
      of != nullptr,
      "[State::view] expected a layer with keys and values, got a recurrent "
      "one",
      ErrorCode::kUnsupported);
  auto result = std::make_shared<LayerRead>(*of);
  const LayerGroup& group = core.groups.group(of->group);
  // It appends nothing, like a layer with a donor.
  result->spec.donor = group.layers[static_cast<size_t>(of->layer_in_group)];
  if (reader) {
    require_sound(*reader, of->spec.kv_heads);
    result->spec.query_heads = reader->query_heads;
    result->spec.scale = reader->scale;
    result->spec.softcap = reader->softcap;
    result->spec.visibility = reader->visibility;
    result->spec.sink_logits = reader->sink_logits;
  }
  return result;
}

} // namespace

struct LayerView::Impl {
  /// Throws kStale where the State is gone.
  std::shared_ptr<State::Impl> live() const {
    auto result = state.lock();
    expect(
        result != nullptr,
        "[LayerView] expected a view of a State, got one whose State is gone",
        ErrorCode::kStale);
    return result;
  }
  /// Those that the queries name.
  std::vector<ViewedRow> viewed(std::span<const ViewQueries> queries) const {
    const auto of = live();
    std::vector<ViewedRow> result;
    for (const RowId row : rows) {
      if (std::any_of(queries.begin(), queries.end(), [&](const auto& query) {
            return query.row == row;
          })) {
        if (any_cut() && !of->chains.intact(row)) {
          throw_cut();
        }
        result.push_back(viewed_row(of->chains, row, layer->group));
      }
    }
    return result;
  }

  std::weak_ptr<State::Impl> state; // of a live view
  std::shared_ptr<const FrozenRows> frozen; // of a pinned one
  std::vector<RowId> rows;
  std::shared_ptr<const LayerRead> layer;
  Selection selection;
  mx::Stream stream;
  int64_t layers = 0; // of the state
  int64_t groups = 0;
};

LayerView::LayerView(std::shared_ptr<const Impl> impl)
    : impl_(std::move(impl)) {}

LayerView State::view(
    std::span<const RowId> rows,
    LayerIndex layer,
    const std::optional<ReaderSpec>& reader) const {
  const StateCore& core = *impl_->core;
  expect(!rows.empty(), "[State::view] expected rows, got none");
  for (const RowId row : rows) {
    impl_->chains.chain(row); // throws
  }
  require_distinct(rows, "[State::view]");
  auto of = reader_layer(core, layer, reader);
  Selection selection = select_read(*of, core.options.reference_read);
  return LayerView(std::make_shared<const LayerView::Impl>(LayerView::Impl{
      .state = impl_,
      .frozen = nullptr,
      .rows = {rows.begin(), rows.end()},
      .layer = std::move(of),
      .selection = std::move(selection),
      .stream = core.stream,
      .layers = core.groups.layers(),
      .groups = core.groups.size()}));
}

std::span<const RowId> LayerView::rows() const {
  return impl_->rows;
}

Position LayerView::length(RowId row) const {
  const auto found = std::find(rows().begin(), rows().end(), row);
  if (found == rows().end()) {
    throw Error(
        ErrorCode::kNotFound,
        "[LayerView::length] expected a row of the view, got row " + text(row));
  }
  if (pinned()) {
    return impl_->frozen->rows[found - rows().begin()].length;
  }
  return viewed_row(impl_->live()->chains, row, impl_->layer->group).length;
}

mx::array LayerView::attend(
    const mx::array& q,
    std::span<const ViewQueries> queries) const {
  const LayerRead& layer = *impl_->layer;
  const AttentionSpec& spec = layer.spec;
  std::vector<ViewedRow> rows =
      pinned() ? impl_->frozen->rows : impl_->viewed(queries);
  // Before the plan, which looks at each query: so many there are.
  require_shape(
      "[LayerView::attend]",
      "q",
      q,
      {static_cast<int>(count_queries(queries)),
       static_cast<int>(spec.query_heads),
       static_cast<int>(spec.query_dim())});
  auto of = std::make_shared<Attendance>();
  of->plan = make_view_plan(
      {.visibility = spec.visibility,
       .group = layer.group,
       .groups = impl_->groups},
      rows,
      queries);
  of->frozen = impl_->frozen;
  if (pinned()) {
    require_intact(*impl_->frozen);
  }
  auto run = std::make_shared<StepRun>(
      std::shared_ptr<const StepPlan>(of, &of->plan),
      impl_->layers,
      "[LayerView] expected an array over rows as they are, got one over rows "
      "that have changed or are gone");
  run->check_after([rows, frozen = impl_->frozen] {
    frozen ? require_intact(*frozen) : require_intact(rows);
  });
  auto cell = std::make_shared<PlanCell>();
  cell->open(run);
  const cpu::StepHandle handle{
      cell, run, mx::array(&of->plan.generation, mx::Shape{1}, mx::uint64)};
  if (!pinned()) {
    impl_->live()->views.add(
        {.run = run, .group = layer.group, .rows = std::move(rows)});
  }
  return impl_->selection.read->attend_donor(
      impl_->layer, handle, {q, q}, impl_->stream);
}

LayerView LayerView::pin() const {
  if (pinned()) {
    return *this;
  }
  auto result = std::make_shared<Impl>(*impl_);
  result->frozen = std::make_shared<const FrozenRows>(
      freeze(impl_->live()->chains, impl_->rows, impl_->layer->group));
  result->state.reset();
  return LayerView(std::move(result));
}

bool LayerView::pinned() const {
  return impl_->frozen != nullptr;
}

bool LayerView::intact() const {
  if (pinned()) {
    return is_intact(*impl_->frozen);
  }
  const auto of = impl_->live();
  return !any_cut() || std::ranges::all_of(rows(), [&](RowId row) {
    return of->chains.intact(row);
  });
}

Bytes LayerView::bytes() const {
  return pinned() ? impl_->frozen->bytes() : Bytes(0);
}

const std::string& LayerView::explain() const {
  return impl_->selection.why;
}

} // namespace holdfast
