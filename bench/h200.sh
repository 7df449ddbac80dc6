#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Splits the generic Sum and Add over all their cases on the GPU of this machine and stores what was
# measured. Usage: bench/h200.sh [RESULTS]   (default bench/results)
#   KSPLIT        the binary            [build/release/ksplit]
#   KSPLIT_OBJECTIVE  both, device or latency   [both]
#   KSPLIT_OPS   [sum add]
#   KSPLIT_SHARED_CASES  folder with Sum.jsonl and Add.jsonl   [../shared/cases]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
ksplit=${KSPLIT:-$here/build/release/ksplit}
cases=${KSPLIT_SHARED_CASES:-$here/../shared/cases}
results=${1:-$here/bench/results}
mkdir -p "$results"

for op in ${KSPLIT_OPS:-sum add}; do
  file=$cases/$(echo "${op:0:1}" | tr '[:lower:]' '[:upper:]')${op:1}.jsonl
  work=$(mktemp -d)
  cp "$here/bench/tasks/$op/"*.py "$work"
  SECONDS=0
  KSPLIT_CASES=$file "$ksplit" split "$work" --device cuda --trigger always --op-name "$op" \
    --objective "${KSPLIT_OBJECTIVE:-both}" \
    | tee "$results/h200-$op.txt"
  echo "whole split of $op: $SECONDS s" | tee -a "$results/h200-$op.txt"
  cp "$work/output/split/split_summary.json" "$results/h200-$op.json"
  cp "$work/output/split/split_kernel.py" "$results/h200-$op-split_kernel.py"
  KSPLIT_CASES=$file python3 "$here/bench/warm.py" "$work" "$results/h200-$op-warm.json"
  python3 "$here/bench/bars.py" "$op" "$results" | tee -a "$results/h200-$op.txt"
  rm -rf "$work"
done
