#!/usr/bin/env bash
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
#
# Fails if clang-format would change a file.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z '*.h' '*.cpp' | xargs -0 clang-format --dry-run -Werror
