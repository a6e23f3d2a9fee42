#!/usr/bin/env bash
# clang-tidy on the library and the command: zero warnings. All files take minutes, so it looks at those that are not
# known to be clean: tidy_clean has the checksums of those that are, with their headers and options (tidy_keys.py). A list
# could be wrong: each commit looks at another share of what is in it, too (MOTE_TEST_SEED).
#   tidy.sh SOURCES BUILD            what is not known to be clean, and the commit's share of the rest
#   tidy.sh SOURCES BUILD --renew    the same; if that is clean, tidy_clean knows of it. Before a commit
#   tidy.sh SOURCES BUILD --all      all, as with MOTE_TEST_ALL=1; if that is clean, it is the list
set -euo pipefail
command -v clang-tidy >/dev/null || { echo "skipped: clang-tidy is not there"; exit 77; }
build=$2
mode=${3:-}
shares=40
clean=tests/check/tidy_clean
[[ $mode == --all ]] && export MOTE_TEST_ALL=1
mkdir -p "$build/tidy"
python3 tests/check/tidy_keys.py "$build" >"$build/tidy/keys"
files=$(awk -v all="${MOTE_TEST_ALL:+1}" -v turn="${MOTE_TEST_SEED:--1}" -v shares=$shares '
    FILENAME == ARGV[1] { known[$0]; next }
    all || !($0 in known) || (turn >= 0 && FNR % shares == turn % shares) { print $2 }' $clean "$build/tidy/keys")
xargs -r -P "$(nproc)" -n 1 clang-tidy --quiet -p "$build/tidy" --warnings-as-errors='*' <<<"$files" 2>&1 |
    { grep -v -E '^[0-9]* *warnings? generated|^Suppressed|^Use -header-filter|^$' || true; } | tee "$build/tidy.log"
[[ ! -s $build/tidy.log ]]
unknown=$(grep -cvxFf $clean "$build/tidy/keys" || true)
[[ ! $mode ]] || cp "$build/tidy/keys" $clean
echo "clang-tidy has nothing to say of $(grep -c . <<<"$files" || true) files of $(wc -l <"$build/tidy/keys")," \
    "$unknown of them not known to be clean before"
