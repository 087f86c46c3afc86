#!/usr/bin/env bash
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
#
# Fails on words that promise work instead of doing it.
set -euo pipefail
cd "$(dirname "$0")/.."
! git grep -nE '\b(TO''DO|FIX''ME|X''XX)\b' -- ':!LICENSE'
