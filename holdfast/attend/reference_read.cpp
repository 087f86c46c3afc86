// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include "mlx/fast.h"
#include "mlx/ops.h"
#include "mlx/primitives.h"

#include "holdfast/attend/read.h"
#include "holdfast/kernels/cpu/layer_task.h"
#include "holdfast/kernels/cpu/output.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

// Positions of a row whose blocks it still holds, in order.
std::vector<int64_t> held_positions(const RowSpan& span, const RowBlocks& row) {
  std::vector<int64_t> held;
  for (int64_t p = 0; p < span.written(); ++p) {
    if (row.images[p / kBlockTokens] != nullptr) {
      held.push_back(p);
    }
  }
  return held;
}

// Encodes new tokens of one channel, then decodes all positions held.
// fresh: [T, Hkv, dim], null where a donor has encoded them; out: [sum of held,
// Hkv, dim].
void append_and_decode(
    const LayerRead& layer,
    const StepPlan& plan,
    ChannelRole role,
    const float* fresh,
    float* out) {
  const bool keys = role == ChannelRole::kKeys;
  const int64_t dim = keys ? layer.spec.key_dim : layer.spec.value_dim;
  const int64_t heads = layer.spec.kv_heads;
  for (size_t r = 0; r < plan.rows.size(); ++r) {
    const RowSpan& span = plan.rows[r];
    const RowBlocks& row = plan.groups[layer.group][r];
    const GroupPhase& phase = layer.phases[row.phase];
    const Codec& codec = phase.codec(role);
    for (int64_t t = 0; fresh != nullptr && t < span.count * heads; ++t) {
      const int64_t position = span.start + t / heads;
      const float* vector = fresh + (span.first_token * heads + t) * dim;
      const auto planes = phase.planes(
          row.images[position / kBlockTokens],
          layer.layer_in_group,
          t % heads,
          role);
      codec.encode(
          role,
          {vector, static_cast<size_t>(dim)},
          position % kBlockTokens,
          planes);
    }
    for (const int64_t position : held_positions(span, row)) {
      for (int64_t head = 0; head < heads; ++head, out += dim) {
        const auto planes = phase.planes(
            static_cast<const std::byte*>(row.images[position / kBlockTokens]),
            layer.layer_in_group,
            head,
            role);
        codec.decode(
            role,
            planes,
            position % kBlockTokens,
            {out, static_cast<size_t>(dim)});
      }
    }
  }
}

class AppendDecodePrimitive : public mx::Primitive {
 public:
  AppendDecodePrimitive(
      mx::Stream stream,
      std::shared_ptr<const LayerRead> layer,
      std::shared_ptr<const PlanCell> cell)
      : Primitive(stream), layer_(std::move(layer)), cell_(std::move(cell)) {}

  void eval_cpu(
      const std::vector<mx::array>& inputs,
      std::vector<mx::array>& outputs) override {
    const std::shared_ptr<StepRun>& run = cpu::step_of(*cell_, inputs);
    const bool own =
        !layer_->spec.donor; // inputs: k, v, slot; else source, slot
    const auto data = [&](size_t i) -> const float* {
      return cpu::contiguous_f32(inputs[i], "attend", stream()).data<float>();
    };
    for (auto& output : outputs) {
      cpu::allocate_output(output);
    }
    cpu::dispatch_layer(
        stream(),
        run,
        layer_->layer,
        [k = own ? data(0) : nullptr,
         v = own ? data(1) : nullptr,
         keys = outputs[0].data<float>(),
         values = outputs[1].data<float>(),
         layer = layer_,
         run] {
          append_and_decode(*layer, run->plan(), ChannelRole::kKeys, k, keys);
          append_and_decode(
              *layer, run->plan(), ChannelRole::kValues, v, values);
        });
  }

  void
  eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) override {
    throw Error(
        ErrorCode::kUnsupported, "[attend] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastAppendDecode";
  }

 private:
  std::shared_ptr<const LayerRead> layer_;
  std::shared_ptr<const PlanCell> cell_;
};

// true where query start + i may see position held[j]: [count, held].
mx::array visible_mask(
    const Visibility& rule,
    const RowSpan& span,
    const std::vector<int64_t>& held) {
  std::vector<uint8_t> mask(span.count * held.size());
  for (int64_t i = 0; i < span.count; ++i) {
    const int64_t query = span.start + i;
    const int64_t end =
        rule.spans ? span.seen_end(query) : std::min(query + 1, span.written());
    for (size_t j = 0; j < held.size(); ++j) {
      const bool near =
          rule.window == 0 || std::abs(held[j] - query) < rule.window;
      mask[i * held.size() + j] = held[j] >= span.seen_from && held[j] < end &&
          (near || held[j] < rule.sinks);
    }
  }
  return mx::array(
      reinterpret_cast<const bool*>(mask.data()),
      mx::Shape{static_cast<int>(span.count), static_cast<int>(held.size())},
      mx::bool_);
}

// q [1, Hq, L, D], k [1, Hkv, S, D], v [1, Hkv, S, Dv] -> [1, Hq, L, Dv].
mx::array softcapped_attention(
    const AttentionSpec& spec,
    const Qkv& in,
    const mx::array& mask,
    mx::Stream s) {
  const auto group = static_cast<int>(spec.query_heads / spec.kv_heads);
  const auto k = mx::repeat(in.k, group, 1, s);
  const auto v = mx::repeat(in.v, group, 1, s);
  auto scores = mx::matmul(in.q, mx::swapaxes(k, -1, -2, s), s);
  const mx::array cap(spec.softcap);
  scores = mx::multiply(scores, mx::array(spec.scale / spec.softcap), s);
  scores = mx::multiply(mx::tanh(scores, s), cap, s);
  const mx::array hidden(-std::numeric_limits<float>::infinity());
  scores = mx::where(mask, scores, hidden, s);
  if (!spec.sink_logits.empty()) {
    auto sinks = mx::array(
        spec.sink_logits.data(),
        mx::Shape{1, static_cast<int>(spec.query_heads), 1, 1},
        mx::float32);
    sinks = mx::broadcast_to(sinks, {1, in.q.shape(1), in.q.shape(2), 1}, s);
    auto weights =
        mx::softmax(mx::concatenate({scores, sinks}, -1, s), -1, true, s);
    weights = mx::slice(
        weights,
        {0, 0, 0, 0},
        {1, in.q.shape(1), in.q.shape(2), scores.shape(3)},
        s);
    return mx::matmul(weights, v, s);
  }
  return mx::matmul(mx::softmax(scores, -1, true, s), v, s);
}

mx::array attend_row(
    const AttentionSpec& spec,
    const Qkv& in,
    const mx::array& mask,
    mx::Stream s) {
  if (spec.softcap > 0) {
    return softcapped_attention(spec, in, mask, s);
  }
  std::optional<mx::array> sinks;
  if (!spec.sink_logits.empty()) {
    sinks = mx::array(
        spec.sink_logits.data(),
        mx::Shape{static_cast<int>(spec.query_heads)},
        mx::float32);
  }
  return mx::fast::scaled_dot_product_attention(
      in.q, in.k, in.v, spec.scale, "array", mask, sinks, false, s);
}

class ReferenceRead : public Read {
 public:
  std::string name() const override {
    return "reference.1";
  }

  Status supports(const LayerRead&) const override {
    return {};
  }
  // Its arrays have the shapes of what the rows hold.
  bool replays() const override {
    return false;
  }

  mx::array attend(
      const std::shared_ptr<const LayerRead>& layer,
      const cpu::StepHandle& step,
      const Qkv& inputs,
      mx::Stream s) const override {
    return read(layer, step, {inputs.q, inputs.k, inputs.v, step.slot}, s);
  }

  mx::array attend_donor(
      const std::shared_ptr<const LayerRead>& layer,
      const cpu::StepHandle& step,
      const Queries& inputs,
      mx::Stream s) const override {
    return read(layer, step, {inputs.q, inputs.source, step.slot}, s);
  }

 private:
  // inputs: q, k and v, or q and the donor's output, and the slot.
  static mx::array read(
      const std::shared_ptr<const LayerRead>& layer,
      const cpu::StepHandle& step,
      const std::vector<mx::array>& inputs,
      mx::Stream s) {
    const StepPlan& plan = step.run->plan();
    std::vector<std::vector<int64_t>> held;
    int total = 0;
    for (size_t r = 0; r < plan.rows.size(); ++r) {
      held.push_back(
          held_positions(plan.rows[r], plan.groups[layer->group][r]));
      total += static_cast<int>(held.back().size());
    }
    const AttentionSpec& spec = layer->spec;
    const auto shape = [&](int64_t dim) {
      return mx::Shape{
          total, static_cast<int>(spec.kv_heads), static_cast<int>(dim)};
    };
    const auto dense = mx::array::make_arrays(
        {shape(spec.key_dim), shape(spec.value_dim)},
        {mx::float32, mx::float32},
        std::make_shared<AppendDecodePrimitive>(s, layer, step.cell),
        {inputs.begin() + 1, inputs.end()});
    const mx::array keys =
        spec.latent ? mx::concatenate({dense[1], dense[0]}, 2, s) : dense[0];
    std::vector<mx::array> outputs;
    int first = 0;
    for (size_t r = 0; r < plan.rows.size(); ++r) {
      const RowSpan& span = plan.rows[r];
      const auto count = static_cast<int>(held[r].size());
      const auto token = static_cast<int>(span.first_token);
      const auto tokens = static_cast<int>(span.count);
      const Qkv row{
          rows_of(inputs[0], token, tokens, s),
          rows_of(keys, first, count, s),
          rows_of(dense[1], first, count, s)};
      const auto mask = visible_mask(layer->spec.visibility, span, held[r]);
      const auto out = attend_row(layer->spec, row, mask, s);
      outputs.push_back(mx::swapaxes(mx::squeeze(out, 0, s), 0, 1, s));
      first += count;
    }
    return mx::contiguous(mx::concatenate(outputs, 0, s), false, s);
  }

  // x [n, H, D] from row `first` on -> [1, H, count, D].
  static mx::array
  rows_of(const mx::array& x, int first, int count, mx::Stream s) {
    const auto rows =
        mx::slice(x, {first, 0, 0}, {first + count, x.shape(1), x.shape(2)}, s);
    return mx::expand_dims(mx::swapaxes(rows, 0, 1, s), 0, s);
  }
};

} // namespace

const Read& reference_read() {
  static const ReferenceRead read;
  return read;
}

} // namespace holdfast
