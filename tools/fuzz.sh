#!/usr/bin/env bash
# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
#
# Replays the corpus of every fuzzer in FOLDER, then fuzzes it: what reads a model's
# files for EACH seconds, every other one for OTHERS; as many at once as there are
# processors. New inputs and logs stay beside the program, out of the repository.
# usage: fuzz.sh FOLDER EACH OTHERS
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
readers=(safetensors config tokenizer_json tokenizer_model template)
mapfile -t fuzzers < <(find "$folder" -maxdepth 1 -type f -executable -name '*_fuzz' | sort)
[ ${#fuzzers[@]} -gt 0 ] || { echo "no fuzzers in $folder"; exit 1; }

is_reader() { [[ " ${readers[*]} " = *" $1 "* ]]; } # NAME

fuzz() { # PROGRAM NAME SECONDS
  local corpus=fuzz/corpus/$2 words=fuzz/dictionaries/$2.dict found=$folder/found/$2
  local inputs=("$found") options=(-rss_limit_mb=1024)
  mkdir -p "$found"
  if [ -d "$corpus" ]; then
    echo "replaying $(find "$corpus" -type f | wc -l) inputs"
    find "$corpus" -type f -print0 | xargs -0 -n 200 "$1" "${options[@]}"
    inputs+=("$corpus")
  fi
  [ ! -f "$words" ] || options+=("-dict=$words")
  "$1" -max_total_time="$3" -timeout=10 -print_final_stats=1 "${options[@]}" \
    -artifact_prefix="$folder/found/$2-" "${inputs[@]}"
}

one() { # PROGRAM SECONDS
  local name log
  name=$(basename "$1" _fuzz)
  log=$folder/found/$name.log
  mkdir -p "$folder/found"
  if fuzz "$1" "$name" "$2" > "$log" 2>&1; then
    echo "== $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $2 s"
    return
  fi
  tail -n 40 "$log"
  echo "== $name: FAILED, all of it: $log"
  return 1
}

for name in "${readers[@]}"; do # not passed by where one is no longer built
  [ -x "$folder/${name}_fuzz" ] || { echo "no ${name}_fuzz in $folder"; exit 1; }
done
# The long ones first.
programs=() seconds=()
for fuzzer in "${fuzzers[@]}"; do
  if is_reader "$(basename "$fuzzer" _fuzz)"; then
    programs=("$fuzzer" "${programs[@]}")
    seconds=("$2" "${seconds[@]}")
  else
    programs+=("$fuzzer")
    seconds+=("$3")
  fi
done
failed=0 running=0
for i in "${!programs[@]}"; do
  if [ "$running" -ge "$(nproc)" ]; then
    wait -n || failed=1
    running=$((running - 1))
  fi
  one "${programs[$i]}" "${seconds[$i]}" &
  running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
exit "$failed"
