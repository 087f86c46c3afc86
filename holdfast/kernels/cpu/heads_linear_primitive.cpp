// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"

#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/ops.h"
#include "holdfast/kernels/cpu/output.h"

namespace holdfast::cpu {

namespace {

namespace mx = mlx::core;

using Heads = std::shared_ptr<const std::vector<Weight>>;

/// Copies vectors of `size` floats, `stride` floats apart, to or from a dense
/// matrix.
void gather(
    const float* from,
    int64_t stride,
    std::vector<float>& to,
    int64_t size) {
  for (int64_t at = 0; at < std::ssize(to); at += size, from += stride) {
    std::copy_n(from, size, to.data() + at);
  }
}
void scatter(
    const std::vector<float>& from,
    int64_t size,
    float* to,
    int64_t stride) {
  for (int64_t at = 0; at < std::ssize(from); at += size, to += stride) {
    std::copy_n(from.data() + at, size, to);
  }
}

class HeadsLinearPrimitive : public mx::UnaryPrimitive {
 public:
  HeadsLinearPrimitive(Heads heads, const Place& place)
      : UnaryPrimitive(place.stream),
        heads_(std::move(heads)),
        runtime_(place.runtime) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    require_f32(inputs[0], "heads_linear");
    allocate_output(out);
    mx::cpu::get_command_encoder(stream()).dispatch(
        [x = inputs[0].data<float>(),
         y = out.data<float>(),
         tokens = int64_t{out.shape(0)},
         heads = heads_,
         runtime = runtime_] {
          const int64_t n = heads->front().n();
          const int64_t k = heads->front().k();
          const int64_t count = std::ssize(*heads);
          std::vector<float> in(static_cast<size_t>(tokens * k));
          std::vector<float> result(static_cast<size_t>(tokens * n));
          for (int64_t h = 0; h < count; ++h) {
            gather(x + h * k, count * k, in, k);
            const Weight* weight = &(*heads)[static_cast<size_t>(h)];
            linear(
                {.x = in.data(),
                 .m = tokens,
                 .weights = {&weight, 1},
                 .y = result.data()},
                *runtime.executor,
                runtime.path);
            scatter(result, n, y + h * n, count * n);
          }
        });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw Error(
        ErrorCode::kUnsupported,
        "[heads_linear] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastHeadsLinear";
  }

 private:
  const Heads heads_;
  const Runtime runtime_;
};

} // namespace

mx::array
heads_linear(const Heads& heads, const mx::array& x, const Place& place) {
  expect(
      !heads->empty() && x.ndim() == 3 &&
          x.shape(1) == static_cast<int>(heads->size()) &&
          x.shape(2) == static_cast<int>(heads->front().k()),
      "[heads_linear] expected x [T, H, k] with a matrix a head");
  return mx::array(
      mx::Shape{x.shape(0), x.shape(1), static_cast<int>(heads->front().n())},
      mx::float32,
      std::make_shared<HeadsLinearPrimitive>(heads, place),
      {x});
}

} // namespace holdfast::cpu
