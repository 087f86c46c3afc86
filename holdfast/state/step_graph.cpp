// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/step_graph.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "mlx/primitives.h"

#include "holdfast/base/check.h"
#include "holdfast/state/state_impl.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

constexpr size_t kSlot = 0;
constexpr size_t kTokens = 2;
constexpr size_t kInputs = 3; // slot, positions, tokens

} // namespace

/// Walks a graph from its inputs on. Constants are numbered when all are known.
class StepGraph::Recorder {
 public:
  Recorder(
      StepGraph& graph,
      const std::vector<mx::array>& inputs,
      std::span<const mx::array> constants)
      : graph_(graph) {
    for (const mx::array& input : inputs) {
      values_.emplace(input.id(), values_.size());
    }
    for (const mx::array& constant : constants) {
      known_.insert(constant.id());
    }
    used_.resize(inputs.size());
  }

  void visit(const mx::array& array) {
    if (values_.contains(array.id()) || constants_.contains(array.id())) {
      return;
    }
    if (!array.has_primitive()) {
      // What was evaluated of this step looks like a weight.
      expect(
          known_.contains(array.id()),
          "[StepGraph] expected arrays made of the step's tokens and positions "
          "and of the constants, got one that was evaluated or is no constant");
      constants_.emplace(array.id(), graph_.constants_.size());
      graph_.constants_.push_back(array);
      return;
    }
    for (const mx::array& input : array.inputs()) {
      visit(input);
    }
    Node node;
    node.primitive = array.primitive_ptr();
    for (const mx::array& input : array.inputs()) {
      inputs_.push_back(input.id());
    }
    for (const mx::array& output : array.outputs()) {
      values_.emplace(output.id(), values_.size());
      node.shapes.push_back(output.shape());
      node.dtypes.push_back(output.dtype());
    }
    node.inputs.resize(array.inputs().size());
    graph_.nodes_.push_back(std::move(node));
  }

  /// Numbers what the nodes take.
  void finish() {
    auto id = inputs_.begin();
    for (Node& node : graph_.nodes_) {
      for (size_t& input : node.inputs) {
        input = value(*id++);
        if (input < kInputs) {
          used_[input] = true;
        }
      }
      layers_ += !node.inputs.empty() && node.inputs.back() == kSlot ? 1 : 0;
    }
  }

  size_t value(std::uintptr_t id) const {
    if (const auto constant = constants_.find(id);
        constant != constants_.end()) {
      return kInputs + constant->second;
    }
    const size_t value = values_.at(id);
    return value < kInputs ? value : value + constants_.size();
  }
  /// Operations that take the slot.
  int64_t layers() const {
    return layers_;
  }
  bool used(size_t input) const {
    return used_[input];
  }

 private:
  StepGraph& graph_;
  std::unordered_map<std::uintptr_t, size_t> values_;
  std::unordered_map<std::uintptr_t, size_t> constants_; // those used
  std::unordered_set<std::uintptr_t> known_; // all that were named
  std::vector<std::uintptr_t> inputs_; // of all nodes, in order
  std::vector<bool> used_;
  int64_t layers_ = 0;
};

StepGraph::StepGraph(
    const Step& step,
    const mx::array& output,
    std::span<const mx::array> constants)
    : cell_(step.impl_->handle.cell),
      tokens_(step.tokens()),
      attended_(step.impl_->attended) {
  const Step::Impl& impl = *step.impl_;
  impl.require_open();
  for (const Selection& selection : impl.core().reads) {
    expect(
        selection.read == nullptr || selection.read->replays(),
        "[StepGraph] expected reads whose graph serves many steps, got the "
        "reference read",
        ErrorCode::kUnsupported);
  }
  expect(
      impl.last && impl.tokens,
      "[StepGraph] expected a step whose tokens and layers were used");
  Recorder recorder(
      *this, {impl.handle.slot, impl.positions, *impl.tokens}, constants);
  recorder.visit(*impl.last);
  recorder.visit(output);
  recorder.finish();
  expect(
      recorder.layers() ==
              std::count(attended_.begin(), attended_.end(), true) &&
          recorder.used(kTokens),
      "[StepGraph] expected the whole graph of a step, got one of which a part "
      "was evaluated or is missing");
  output_ = recorder.value(output.id());
  last_ = recorder.value(impl.last->id());
}

bool StepGraph::fits(const Step& step) const {
  return step.impl_->handle.cell == cell_ && step.tokens() == tokens_;
}

mx::array StepGraph::replay(Step& step, std::span<const int32_t> tokens) const {
  Step::Impl& impl = *step.impl_;
  impl.require_open();
  expect(
      fits(step) && !impl.last,
      "[StepGraph] expected an untouched step of the same state and as many "
      "tokens, got another");
  std::vector<mx::array> values{
      impl.handle.slot, impl.positions, step.token_ids(tokens)};
  values.insert(values.end(), constants_.begin(), constants_.end());
  for (const Node& node : nodes_) {
    std::vector<mx::array> inputs;
    inputs.reserve(node.inputs.size());
    for (const size_t input : node.inputs) {
      inputs.push_back(values[input]);
    }
    if (node.shapes.size() == 1) {
      values.emplace_back(
          node.shapes[0], node.dtypes[0], node.primitive, std::move(inputs));
      continue;
    }
    auto outputs = mx::array::make_arrays(
        node.shapes, node.dtypes, node.primitive, inputs);
    std::move(outputs.begin(), outputs.end(), std::back_inserter(values));
  }
  impl.attended = attended_;
  impl.last = values[last_];
  return values[output_];
}

} // namespace holdfast
