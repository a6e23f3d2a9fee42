#!/usr/bin/env bash
# Each seventh allocation of mote info and of pipelines fails in turn, from one that MOTE_TEST_SEED says, or each of them
# with MOTE_TEST_ALL, those of the library and of the command: either it ends as if memory had run out, with no output
# there, or what it prints and writes is what it is otherwise. No more memory is kept to the end than where nothing fails.
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
seed=${MOTE_TEST_SEED:-0} few=7
[[ -z ${MOTE_TEST_ALL:-} ]] || few=1
told() { sed -nE "s/^$1 ([0-9]+).*/\1/p" "$2"; }
# each_fails STEP OUTPUTS COMMAND…     OUTPUTS: names of files, with blanks between
each_fails() {
    local step=$(($1 * few)) outputs=$2 count left code at output same
    shift 2
    MOTE_FAIL_COUNT=1 MOTE_FAIL_LEAKS=1 LD_PRELOAD=$PWD/fail.so "$@" >whole 2>told || { cat told; exit 1; }
    count=$(told allocations told)
    left=$(told left told)
    for output in $outputs; do mv "$output" "whole.$output"; done
    ((count > 100)) || { echo "$*: only ${count:-no} allocations were seen"; failed=1; }
    for ((at = 3 + seed % step; at <= count; at += step)); do # the first two are the command's start
        code=0
        MOTE_FAIL_AT=$at MOTE_FAIL_LEAKS=1 LD_PRELOAD=$PWD/fail.so "$@" >out 2>err || code=$?
        same=$(cmp -s whole out && echo 1 || echo 0)
        for output in $outputs; do
            if ((code == 4)) && [[ -e $output ]]; then echo "$*: allocation $at of $count: $output is there"; failed=1; fi
            cmp -s "$output" "whole.$output" || same=0
            rm -f "$output"
        done
        (($(told left err) <= left)) || { echo "$*: allocation $at of $count: $(grep '^left' err), not $left"; failed=1; }
        if ((code == 4)) && grep -q "out of memory" err; then continue; fi
        if ((code == 0 && same)); then continue; fi
        echo "$*: allocation $at of $count: exit code $code: $(head -1 err)"
        failed=1
    done
}
each_fails 1 "" "$mote" info city.las --stats --threads 1
each_fails 1 "" "$mote" info city.e57 --stats --json --threads 1 --where "z > 0"
if "$mote" run --describe >schema 2>err; then
    cat >values.json <<'END'
["city.las",
 {"type": "filters.range", "limits": "Intensity[1:]"},
 {"type": "filters.assign", "value": ["Classification = 2 where Z < 230", "UserData = 1"]},
 {"type": "filters.ferry", "dimensions": "Z=>Height"},
 {"type": "filters.sort", "dimension": "X"},
 {"type": "filters.outlier", "mean_k": 4},
 {"type": "normals", "k": 5},
 {"type": "filters.stats"},
 "out.las"]
END
    cat >branches.json <<'END'
{"pipeline": [
 {"type": "readers.las", "filename": ["city.las"], "tag": "all"},
 {"type": "filters.expression", "expression": "Z > 1", "inputs": "all", "tag": "high"},
 {"type": "filters.head", "count": 100, "inputs": "all", "tag": "first"},
 {"type": "filters.crop", "bounds": "([499997,500003],[5399991,5400008])", "inputs": ["high", "first"]},
 {"type": "filters.decimation", "step": 2},
 {"type": "filters.normal", "knn": 4},
 {"type": "outliers", "neighbors": 4},
 {"type": "planes"},
 {"type": "writers.ply", "filename": "out.ply"},
 {"type": "writers.copc", "filename": "out.copc.laz"},
 {"type": "knn", "neighbors": 2, "filename": "out.npz"}]}
END
    each_fails 1 out.las "$mote" run values.json -q --threads 1
    each_fails 5 "out.ply out.copc.laz out.npz" "$mote" run branches.json -q --threads 1
else
    echo "pipelines are not tried: $(head -1 err)"
fi
exit $failed
