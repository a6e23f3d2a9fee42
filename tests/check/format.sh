#!/usr/bin/env bash
# Every source is as clang-format writes it.
set -euo pipefail
command -v clang-format >/dev/null || { echo "skipped: clang-format is not there"; exit 77; }
git ls-files '*.c' '*.h' '*.cu' | xargs clang-format --dry-run -Werror
echo "$(git ls-files '*.c' '*.h' '*.cu' | wc -l) files are well formed"
