#!/usr/bin/env bash
# Nothing is left of a merge. No page is wider than 120 columns (ARCHITECTURE.md: 100), and every source is as
# clang-format writes it. Doc comments have a parameter a line: clang-format runs the lines of a comment together where
# one of them is too wide.
set -euo pipefail
if git grep -nE '^(<<<<<<<|>>>>>>>|\|{7}) ' -- . ':!*.patch'; then
    echo "these are left of a merge" >&2
    exit 1
fi
pages=$(git ls-files --cached --others --exclude-standard '*.md')
wide() { LC_ALL=C.UTF-8 grep -nHE "^.{$1}" "${@:2}"; } # WIDTH FILE...: lines of at least WIDTH characters
# shellcheck disable=SC2086 # the names have no blanks
if wide 121 $pages || wide 101 ARCHITECTURE.md; then
    echo "these lines are too long: at most 120 columns, in ARCHITECTURE.md 100" >&2
    exit 1
fi
echo "$(wc -w <<<"$pages") pages are narrow enough"
if grep -nE '^/// .*[^ ] (Returns|Cost|Source) {2,}' include/mote/*.h; then
    echo "these lines of doc comments have run together" >&2
    exit 1
fi
command -v clang-format >/dev/null || { echo "skipped: clang-format is not there"; exit 77; }
git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format --dry-run -Werror
echo "$(git ls-files '*.c' '*.h' '*.cu' '*.cuh' | wc -l) files are well formed"
