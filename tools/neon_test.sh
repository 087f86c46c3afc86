#!/usr/bin/env bash
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
#
# Builds the CPU kernels for 64-bit Arm and runs their tests under qemu-user.
# Needs g++-aarch64-linux-gnu, qemu-user, googletest and libhwy-dev.
# usage: neon_test.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
jobs=$(nproc)

launcher=()
if command -v ccache > /dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHOLDFAST_MLX=OFF \
  -DHOLDFAST_KERNELS_ONLY=ON -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" "${launcher[@]}"
cmake --build "$build" -j "$jobs"
ctest --test-dir "$build" -j "$jobs" --timeout 1800 --output-on-failure --no-tests=error
