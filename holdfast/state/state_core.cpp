// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a state is built of: groups, pool, reads and signature.

#include "holdfast/base/check.h"
#include "holdfast/base/classic_stream.h"
#include "holdfast/plan/blank_tail.h"
#include "holdfast/plan/convert_block.h"
#include "holdfast/state/drain.h"
#include "holdfast/state/state_impl.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

std::vector<LayerState> layer_states(const StateOptions& options) {
  expect(options.runtime.executor != nullptr, "[State] expected an executor");
  expect(
      options.max_bytes >= Bytes(0),
      "[State] expected max_bytes of 0 (no limit) or more");
  expect(
      options.recurrent_keep_every >= 0,
      "[State] expected recurrent_keep_every of 0 (none) or more");
  std::vector<LayerState> layers;
  for (const LayerSpec& spec : options.layers) {
    if (const auto* recurrent = std::get_if<RecurrentSpec>(&spec)) {
      layers.push_back({{}, {}, *recurrent, options.recurrent_keep_every});
    } else {
      const auto& attention = std::get<AttentionSpec>(spec);
      layers.push_back(
          {attention,
           attention.donor ? std::vector<LayerPhase>()
                           : options.precision.of(std::ssize(layers))});
    }
  }
  for (const auto& [layer, phases] : options.precision.layers) {
    expect(
        layer >= 0 && layer < std::ssize(layers) &&
            !layers[static_cast<size_t>(layer)].phases.empty(),
        "[State] expected a precision of layers that store keys and values, "
        "got one of another layer");
  }
  return layers;
}

std::string storage_text(const std::vector<LayerPhase>& phases) {
  std::string text;
  for (const LayerPhase& phase : phases) {
    text += (text.empty() ? "" : ", then ") + phase.keys->id() + " / " +
        phase.values->id();
    if (phase.start > Position(0)) {
      text += " from " + std::to_string(phase.start.get());
    }
  }
  return text;
}

/// Numbers in hex, so that equal text means equal bits.
std::string attention_text(const AttentionSpec& spec) {
  std::ostringstream text = classic_stream();
  text << std::hexfloat << spec.query_heads << " query heads, " << spec.kv_heads
       << " of " << spec.key_dim << " / " << spec.value_dim << ", scale "
       << spec.scale << ", cap " << spec.softcap << ", window "
       << spec.visibility.window << ", sinks " << spec.visibility.sinks;
  if (!spec.visibility.spans) {
    text << ", spans causal";
  }
  for (const float logit : spec.sink_logits) {
    text << ", sink logit " << logit;
  }
  if (spec.latent) {
    text << ", latent";
  }
  if (spec.donor) {
    text << ", over layer " << spec.donor->get();
  }
  return text.str();
}

std::string recurrent_text(const RecurrentSpec& spec) {
  std::ostringstream text = classic_stream();
  text << kRecurrentRead << ", " << spec.key_heads << " key heads of "
       << spec.key_dim << ", " << spec.value_heads << " value heads of "
       << spec.value_dim << ", " << spec.taps << " taps";
  return text.str();
}

std::string recurrent_why(const StateOptions& options) {
  const int64_t every = options.recurrent_keep_every;
  std::string text = kRecurrentRead;
  if (every > 0) {
    text += "; one block in " + std::to_string(every) + " is kept";
  }
  return text;
}

Signature
make_signature(const StateCore& core, const std::vector<LayerState>& layers) {
  std::vector<Signature::Field> fields = core.options.identity;
  fields.push_back({"block tokens", std::to_string(kBlockTokens)});
  fields.push_back({"image layout", std::to_string(kImageLayoutVersion)});
  fields.push_back({"numerics", std::to_string(kNumericsVersion)});
  fields.push_back({"kernels", name(core.options.runtime.path)});
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string layer = "layer " + std::to_string(i);
    if (layers[i].recurrent) {
      fields.push_back(
          {layer + " recurrent", recurrent_text(*layers[i].recurrent)});
      continue;
    }
    fields.push_back(
        {layer + " attention", attention_text(layers[i].attention)});
    fields.push_back({layer + " storage", storage_text(layers[i].phases)});
    fields.push_back({layer + " read", core.reads[i].read->name()});
  }
  return Signature(std::move(fields));
}

} // namespace

StateCore::StateCore(StateOptions given)
    : options(std::move(given)),
      groups(layer_states(options)),
      pool(
          groups.image_bytes(),
          options.max_bytes == Bytes(0) ? kUnlimitedBytes : options.max_bytes),
      stream(mx::new_thread_unsafe_stream(mx::Device::cpu)) {
  for (int64_t i = 0; i < groups.layers(); ++i) {
    const LayerPlace place = groups.place(LayerIndex(i));
    const auto& phases = groups.group(place.group).phases;
    const LayerSpec& spec = options.layers[static_cast<size_t>(i)];
    layers.emplace_back();
    reads.emplace_back();
    recurrent.emplace_back();
    donors.push_back(false);
    if (const auto* of = std::get_if<RecurrentSpec>(&spec)) {
      reads.back().why = recurrent_why(options);
      recurrent.back() = std::make_shared<const RecurrentLayer>(RecurrentLayer{
          .spec = *of,
          .layout = phases.front().layout,
          .layer = i,
          .group = place.group,
          .layer_in_group = place.layer,
          .runtime = options.runtime});
      continue;
    }
    layers.back() = std::make_shared<const LayerRead>(LayerRead{
        .spec = std::get<AttentionSpec>(spec),
        .phases = phases,
        .layer = i,
        .group = place.group,
        .layer_in_group = place.layer,
        .runtime = options.runtime});
    reads.back() = select_read(*layers.back(), options.reference_read);
    if (const auto donor = layers.back()->spec.donor) {
      donors[static_cast<size_t>(donor->get())] = true;
    }
  }
  signature = std::make_shared<const Signature>(
      make_signature(*this, layer_states(options)));
}

State::Impl::Impl(std::shared_ptr<StateCore> of)
    : core(std::move(of)),
      chains(
          core->pool,
          core->groups.rules(),
          // The core outlives the chains.
          [core = core.get()](const BlockConversion& conversion) {
            convert_block(
                core->groups.group(conversion.group),
                conversion,
                *core->options.runtime.executor);
          },
          [core = core.get()](const TailImage& tail) {
            blank_tail(core->groups.group(tail.group), tail);
          }) {}

State::Impl::~Impl() {
  if (views.any()) {
    drain(core->stream);
  }
  views.end_all();
}

} // namespace holdfast
