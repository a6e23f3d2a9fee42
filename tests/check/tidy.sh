#!/usr/bin/env bash
# clang-tidy on the library and the command: zero warnings. All files take minutes, so by itself it looks at those that
# changed since the commit named in tidy_clean, or include what did; where that commit is not there (a shallow clone), at
# all.
#   tidy.sh SOURCES BUILD         what changed
#   tidy.sh SOURCES BUILD --all   all, by hand now and then; if that is clean, tidy_clean names the commit of today
set -euo pipefail
command -v clang-tidy >/dev/null || { echo "skipped: clang-tidy is not there"; exit 77; }
build=$2
clean=tests/check/tidy_clean
base=$(cat $clean)
if [[ ${3:-} == --all ]] || ! git cat-file -e "$base^{commit}" 2>/dev/null; then
    files=$(git ls-files 'src/*.c' 'cli/*.c')
    what="all that there are"
else
    files=$(python3 tests/check/changed_sources.py "$build" "$base")
    what="those that changed since ${base:0:12}"
fi
xargs -r -P "$(nproc)" -n 1 clang-tidy --quiet -p "$build" --warnings-as-errors='*' <<<"$files" 2>&1 |
    { grep -v -E '^[0-9]* *warnings? generated|^Suppressed|^Use -header-filter|^$' || true; } | tee "$build/tidy.log"
[[ ! -s $build/tidy.log ]]
if [[ ${3:-} == --all ]]; then git rev-parse HEAD >$clean; fi
echo "clang-tidy has nothing to say of $(grep -c . <<<"$files" || true) files: $what"
