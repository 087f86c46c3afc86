#!/usr/bin/env bash
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
#
# Installs a build into a prefix, moves the prefix, and uses it there: the
# program, and a project that finds the package.
# usage: run.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" > /dev/null
mv "$work/first" "$work/moved"
cmake -S tests/packaging/consumer -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/moved"
cmake --build "$work/build"
"$work/build/consumer_core"
[ ! -x "$work/build/consumer_mlx" ] || "$work/build/consumer_mlx"
if [ -x "$work/moved/bin/holdfast" ]; then
  "$work/moved/bin/holdfast" --version
  # Every library of MLX must come from the prefix.
  outside=$(ldd "$work/moved/bin/holdfast" | grep -E 'mlx|blas|lapack|gfortran' |
    grep -v "$work/moved/" || true)
  [ -z "$outside" ] || { echo "libraries outside the prefix: $outside"; exit 1; }
fi
