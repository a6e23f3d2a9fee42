#!/usr/bin/env bash
# Each allocation of mote info fails in turn, those of the library and of the command: either it ends as if memory had
# run out, or what it prints is what it prints otherwise.
#   fail_allocation.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
mote=$(realpath "$2")/mote
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-fail-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
echo 'int main(void) { return __GLIBC__ * 0; }' | "${CC:-cc}" -include features.h -x c - -o glibc 2>/dev/null ||
    { echo "skipped: the C library is not glibc"; exit 77; }
"${CC:-cc}" -O1 -shared -fPIC "$sources/tests/programs/fail_allocation.c" -o fail.so
"$mote" gen city city.las -n 500 -q
"$mote" convert city.las city.e57 -q

failed=0
step=1
[[ -z ${MOTE_TEST_FEW:-} ]] || step=7
# each_fails COMMAND…
each_fails() {
    local count code at
    count=$(MOTE_FAIL_COUNT=1 LD_PRELOAD=$PWD/fail.so "$@" 2>&1 >whole | sed -n 's/^allocations //p')
    ((count > 100)) || { echo "$*: only ${count:-no} allocations were seen"; failed=1; }
    for ((at = 3; at <= count; at += step)); do # the first two are the command's start
        code=0
        MOTE_FAIL_AT=$at LD_PRELOAD=$PWD/fail.so "$@" >out 2>err || code=$?
        if ((code == 4)) && grep -q "out of memory" err; then continue; fi
        if ((code == 0)) && cmp -s whole out; then continue; fi
        echo "$*: allocation $at of $count: exit code $code: $(head -1 err)"
        failed=1
    done
}
each_fails "$mote" info city.las --stats --threads 1
each_fails "$mote" info city.e57 --stats --json --threads 1 --where "z > 0"
exit $failed
