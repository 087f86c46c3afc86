// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/linear_dispatch.h"

#include <string>

#include "holdfast/base/check.h"
#include "holdfast/env/for_path.h"

namespace holdfast::cpu {

const LinearKernels& linear_kernels(KernelPath path) {
  if (!runs_here(path)) {
    throw Error(
        ErrorCode::kUnsupported,
        std::string("[linear] expected a path of this processor, got ") +
            name(path));
  }
  return for_path<
      linear_kernels_amx,
      linear_kernels_avx512,
      linear_kernels_vec256,
      linear_kernels_plain>(path)();
}

const ProductKernels&
products_of(const LinearKernels& kernels, const WeightFormat& format) {
  switch (format.kind) {
    case WeightFormat::Kind::kF32:
      return kernels.f32;
    case WeightFormat::Kind::kBf16:
      return kernels.bf16;
    case WeightFormat::Kind::kCodes:
      break;
  }
  return kernels.codes[format.bits][format.offsets ? 1 : 0];
}

} // namespace holdfast::cpu
