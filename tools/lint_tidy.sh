#!/usr/bin/env bash
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
#
# clang-tidy over the library and the command line.
# usage: lint_tidy.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z 'holdfast/*.cpp' 'apps/*.cpp' |
  xargs -0 -P "$(nproc)" -n 4 clang-tidy -p "$1" --quiet --warnings-as-errors='*'
