#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Refuses GPU kernels that spill registers to memory, or use so many that few threads fit: what ptxas says of each.
#
#   ci/kernel_resources.sh [ARCHITECTURE...]
#
# By default 80 and 90. Skips with its reason where there is no nvcc. Exit codes: 0 all is well or skipped, 1 findings.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly most_registers=128 sources=workloads/backend/cuda/module/kernels
if (($# == 0)); then set -- 80 90; fi
readonly architectures=("$@")

nvcc=$(command -v nvcc || true)
if [[ -z $nvcc && -x /usr/local/cuda/bin/nvcc ]]; then nvcc=/usr/local/cuda/bin/nvcc; fi
if [[ -z $nvcc ]]; then
  echo "kernel_resources: skipped, nvcc was not found"
  exit 0
fi

findings=0 kernels=0
for file in "$sources"/*.cu; do
  for architecture in "${architectures[@]}"; do
    report=$("$nvcc" -std=c++20 -O3 -I. -gencode "arch=compute_$architecture,code=sm_$architecture" -Xptxas -v \
      -c "$file" -o /dev/null 2>&1) || { printf '%s\n' "$report"; exit 1; }
    found=$(awk -v most="$most_registers" '
      /Compiling entry/ { kernel = $6 }
      /spill stores/ { if ($5 > 0 || $9 > 0) print "spills " $5 " bytes: " kernel }
      / Used / { if ($5 > most) print $5 " registers: " kernel }' <<<"$report")
    kernels=$((kernels + $(grep -c 'Compiling entry' <<<"$report" || true)))
    if [[ -n $found ]]; then
      while IFS= read -r line; do printf '%s, sm_%s: %s\n' "$file" "$architecture" "$line"; done <<<"$found"
      findings=$((findings + $(wc -l <<<"$found")))
    fi
  done
done
echo "kernel_resources: $findings findings in $kernels kernels for sm_${architectures[*]}"
((findings == 0))
