#!/usr/bin/env bash
# E57 files of others, and those that mote writes, read by two independent readers: web-e57 of npm, and libE57Format in
# Debian's libfreecad-python3-0.20. The same points as mote reads. $2: the build folder.
set -euo pipefail
mote=$2/mote
data=${MOTE_SHARED_DATA:-../shared/data}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-e57-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
"$mote" gen city "$scratch/city.las" -n 3000 -q
"$mote" convert "$scratch/city.las" -o "$scratch/integers.e57" -q 2>"$scratch/log" || { grep -q expat "$scratch/log" && echo "skipped: this build has no expat" && exit 77; cat "$scratch/log"; exit 1; }
"$mote" info "$scratch/integers.e57" >"$scratch/log" 2>&1 || { grep -q expat "$scratch/log" && echo "skipped: this build has no expat" && exit 77; cat "$scratch/log"; exit 1; }
"$mote" gen torus "$scratch/floats.e57" -n 3000 -q
"$mote" gen box "$scratch/normals.e57" -n 40000 -q
awk 'BEGIN { print "x,y,z,point_source_id"; for (i = 1; i < 600; i++) print i / 7, i % 7, i % 11, i % 5 + 1 }' OFS=, >"$scratch/sources.csv"
"$mote" convert "$scratch/sources.csv" -o "$scratch/sources.las" -q
"$mote" convert "$scratch/sources.las" -o "$scratch/sources.e57" --by-source -q
files=("$scratch"/*.e57)
if [[ -d $data/e57 ]]; then files+=("$data"/e57/*.e57); else echo "the folder of real data is not there: only files of mote"; fi
compared=0 status=0

package=viewer/node_modules/web-e57
if [[ ! -e $package ]] && command -v npm >/dev/null; then
    timeout 60 npm install --no-audit --no-fund --prefix "$scratch" web-e57 >"$scratch/log" 2>&1 || true
    package=$scratch/node_modules/web-e57
fi
if [[ -e $package ]] && command -v node >/dev/null; then
    node tests/interop/e57_read.mjs "$package" "${files[@]}" | python3 tests/interop/e57_compare.py "$mote" double || status=1
    compared=1
else
    echo "web-e57 of npm is not there"
fi
if python3 tests/interop/e57_freecad.py >/dev/null 2>&1; then
    python3 tests/interop/e57_freecad.py "${files[@]}" 2>/dev/null | python3 tests/interop/e57_compare.py "$mote" float || status=1
    compared=1
else
    echo "libE57Format is not there (Debian: libfreecad-python3-0.20)"
fi
((compared)) || { echo "skipped: neither reader is there"; exit 77; }
exit $status
