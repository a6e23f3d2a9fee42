#!/usr/bin/env bash
# Two `mote view` of one scan find a damaged result of an earlier one. While the first is about to take it away, the second
# makes a new one: that stays, for it is served already.
#   cache_rivals.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
mote=$(realpath "$2")/mote
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-rivals-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"${CC:-cc}" -O1 -shared -fPIC "$sources/tests/programs/cache_rivals.c" -o wait.so -ldl 2>/dev/null ||
    { echo "skipped: no shared object can be made here"; exit 77; }
mkdir page cache
echo '<head><title>page</title>' >page/index.html
export MOTE_VIEWER=$PWD/page XDG_CACHE_HOME=$PWD/cache MOTE_STOPPED=$PWD/stopped MOTE_GO_ON=$PWD/go_on
"$mote" gen city city.las -n 3000 -q
view() { "$mote" view city.las --no-open --port 0 --for 0.1 -q; }
view >/dev/null
entry=$(echo cache/mote/*)
files=$(ls "$entry")

for damage in octree.bin hierarchy.bin metadata.json; do
    rm -f stopped go_on "$entry/$damage"
    LD_PRELOAD=$PWD/wait.so view >first 2>&1 &
    for ((i = 0; i < 3000; i++)); do [[ ! -e stopped ]] || break; sleep 0.01; done
    [[ -e stopped ]] || { echo "$damage: the first removes nothing, so nothing is tried"; exit 1; }
    view >second 2>&1 || { echo "$damage: the second one failed:"; cat second; exit 1; }
    made=$(stat -c '%i %y' "$entry" "$entry"/*)
    touch go_on
    wait $! || { echo "$damage: the first one failed:"; cat first; exit 1; }
    [[ $(stat -c '%i %y' "$entry" "$entry"/*) == "$made" ]] || { echo "$damage: the second one's result was replaced"; exit 1; }
    [[ $(ls -A cache/mote) == "${entry##*/}" && $(ls "$entry") == "$files" ]] || { echo "$damage: left:"; ls -AR cache; exit 1; }
done
echo "a result that came up meanwhile stays"
