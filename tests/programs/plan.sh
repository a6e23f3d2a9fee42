#!/usr/bin/env bash
# What mote lod --plan says beside what the run takes, for some shapes, schemes, samplings, filters and encodings: never
# less, at most 1.3 times as much, the same nodes, and --memory of that size is enough. plan_ratios.py has the rest.
#   plan.sh SOURCES BUILD
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: python3 is not there"; exit 77; }
exec python3 "$1/tests/programs/plan_ratios.py" "$2/mote" "$2/tests/shaped_file" --quick
