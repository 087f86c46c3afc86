#!/usr/bin/env bash
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
#
# clang-tidy over the library and the command line.
# usage: lint_tidy.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
# The commands without gcc's precompiled headers, which clang takes for its own.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed 's/ -Winvalid-pch -include [^ ]*//g' "$1/compile_commands.json" \
  > "$commands/compile_commands.json"
git ls-files -z 'holdfast/*.cpp' 'apps/*.cpp' |
  xargs -0 -P "$(nproc)" -n 4 clang-tidy -p "$commands" --quiet --warnings-as-errors='*'
