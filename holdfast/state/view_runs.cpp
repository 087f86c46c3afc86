// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/view_runs.h"

#include <algorithm>
#include <utility>

#include "holdfast/state/drain.h"

namespace holdfast {

void ViewRuns::add(Entry entry) {
  std::erase_if(entries_, [](const Entry& of) { return of.run.expired(); });
  entries_.push_back(std::move(entry));
}

bool ViewRuns::any() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& of) {
    return !of.run.expired();
  });
}

void ViewRuns::end_changed(const Chains& chains) noexcept {
  std::erase_if(entries_, [&](const Entry& of) {
    const std::shared_ptr<StepRun> run = of.run.lock();
    const bool same =
        std::all_of(of.rows.begin(), of.rows.end(), [&](const ViewedRow& row) {
          return unchanged(chains, row, of.group);
        });
    if (run && !same) {
      run->end();
    }
    return !run || !same;
  });
}

void ViewRuns::end_all() noexcept {
  for (const Entry& entry : entries_) {
    if (const std::shared_ptr<StepRun> run = entry.run.lock()) {
      run->end();
    }
  }
  entries_.clear();
}

RowsChange::RowsChange(
    ViewRuns& views,
    const Chains& chains,
    mlx::core::Stream stream)
    : views_(views), chains_(chains) {
  if (views_.any()) {
    drain(stream);
  }
}

RowsChange::~RowsChange() {
  views_.end_changed(chains_);
}

} // namespace holdfast
