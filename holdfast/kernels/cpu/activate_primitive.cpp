// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"

#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/ops.h"
#include "holdfast/kernels/cpu/output.h"

namespace holdfast::cpu {

namespace {

namespace mx = mlx::core;

class ActivatePrimitive : public mx::UnaryPrimitive {
 public:
  ActivatePrimitive(Activation function, const Place& place)
      : UnaryPrimitive(place.stream),
        function_(function),
        runtime_(place.runtime) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    require_f32(inputs[0], "activate");
    allocate_output(out);
    const std::span<const float> x(inputs[0].data<float>(), inputs[0].size());
    mx::cpu::get_command_encoder(stream()).dispatch(
        [function = function_, x, y = out.data<float>(), runtime = runtime_] {
          activate(function, x, y, *runtime.executor, runtime.path);
        });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw Error(
        ErrorCode::kUnsupported, "[activate] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastActivate";
  }

 private:
  const Activation function_;
  const Runtime runtime_;
};

class NormalisePrimitive : public mx::UnaryPrimitive {
 public:
  NormalisePrimitive(
      std::shared_ptr<const std::vector<float>> norm,
      float eps,
      const Place& place)
      : UnaryPrimitive(place.stream),
        norm_(std::move(norm)),
        eps_(eps),
        runtime_(place.runtime) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    require_f32(inputs[0], "normalise");
    allocate_output(out);
    const auto width = static_cast<int64_t>(norm_->size());
    mx::cpu::get_command_encoder(stream()).dispatch(
        [x = inputs[0].data<float>(),
         y = out.data<float>(),
         rows = static_cast<int64_t>(out.size()) / width,
         width,
         norm = norm_,
         eps = eps_,
         runtime = runtime_] {
          rms_norm(x, rows, width, norm_of(*norm, eps), y, runtime.path);
        });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw Error(
        ErrorCode::kUnsupported,
        "[normalise] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastNormalise";
  }

 private:
  const std::shared_ptr<const std::vector<float>> norm_;
  const float eps_;
  const Runtime runtime_;
};

} // namespace

mx::array
activate(Activation function, const mx::array& x, const Place& place) {
  return mx::array(
      x.shape(),
      mx::float32,
      std::make_shared<ActivatePrimitive>(function, place),
      {x});
}

mx::array normalise(
    const std::shared_ptr<const std::vector<float>>& norm,
    float eps,
    const mx::array& x,
    const Place& place) {
  expect(
      x.ndim() >= 1 && x.shape(-1) == static_cast<int>(norm->size()),
      "[normalise] expected a norm of the last dimension's size");
  return mx::array(
      x.shape(),
      mx::float32,
      std::make_shared<NormalisePrimitive>(norm, eps, place),
      {x});
}

} // namespace holdfast::cpu
