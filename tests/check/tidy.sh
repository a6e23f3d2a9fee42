#!/usr/bin/env bash
# clang-tidy on the library and the command: zero warnings. $2 is the build folder.
set -euo pipefail
command -v clang-tidy >/dev/null || { echo "skipped: clang-tidy is not there"; exit 77; }
git ls-files 'src/*.c' 'cli/*.c' |
    xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$2" --warnings-as-errors='*' 2>&1 |
    { grep -v -E '^[0-9]* *warnings? generated|^Suppressed|^Use -header-filter|^$' || true; } | tee "$2/tidy.log"
[[ ! -s $2/tidy.log ]]
