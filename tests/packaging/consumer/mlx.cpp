// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Uses holdfast::holdfast and, through it, MLX, from the installed prefix.

#include <cstdio>

#include "holdfast/base/check.h"
#include "mlx/mlx.h"

int main() {
  auto sum = mlx::core::sum(mlx::core::arange(10));
  std::printf("%d\n", sum.item<int>());
  return sum.item<int>() == 45 ? 0 : 1;
}
