#!/usr/bin/env bash
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
#
# Replays the corpus of every fuzzer in FOLDER, then fuzzes each; new inputs stay
# beside the program, out of the repository. SECONDS are shared by all of them.
# usage: fuzz.sh FOLDER SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
mapfile -t fuzzers < <(find "$folder" -maxdepth 1 -type f -executable -name '*_fuzz')
[ ${#fuzzers[@]} -gt 0 ] || { echo "no fuzzers in $folder"; exit 1; }
each=$(($2 / ${#fuzzers[@]}))
for fuzzer in "${fuzzers[@]}"; do
  name=$(basename "$fuzzer" _fuzz)
  corpus=fuzz/corpus/$name
  found=$folder/found/$name
  mkdir -p "$found"
  if [ -d "$corpus" ]; then
    echo "== $name: replaying $(find "$corpus" -type f | wc -l) inputs"
    find "$corpus" -type f -print0 | xargs -0 -n 200 "$fuzzer" -rss_limit_mb=1024
  fi
  echo "== $name: fuzzing for $each s"
  inputs=("$found")
  [ ! -d "$corpus" ] || inputs+=("$corpus")
  "$fuzzer" -max_total_time="$each" -rss_limit_mb=1024 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$folder/found/$name-" "${inputs[@]}"
done
