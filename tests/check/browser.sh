#!/usr/bin/env bash
# The page in a headless browser, on folders of every scheme and encoding that mote lod writes; and in Firefox. $2: the build folder.
set -euo pipefail
[[ -e tests/browser/run.mjs && -e viewer/package.json ]] || { echo "skipped: there is no viewer here"; exit 77; }
command -v node >/dev/null || { echo "skipped: node is not there"; exit 77; }
command -v chromium >/dev/null || { echo "skipped: chromium is not there"; exit 77; }
mote=$2/mote
data=${MOTE_SHARED_DATA:-../shared/data}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-browser-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
flock "$2" make --no-print-directory viewer # another check may make it, too
"$mote" gen city -o "$scratch/city.las" -n 300k -q
"$mote" lod "$scratch/city.las" -o "$scratch/additive" -q
"$mote" lod "$scratch/city.las" -o "$scratch/gaussian-brotli" -q --filter gaussian --encoding brotli
# A scan with a zero among its points: its octree is deeper than codes are.
"$mote" gen city -o "$scratch/scan.las" -n 100k -q
"$mote" convert "$scratch/scan.las" -o "$scratch/scan.xyz" -q
{ grep -v '^#' "$scratch/scan.xyz" | cut -d' ' -f1-3; echo "0 0 0"; } >"$scratch/stray.xyz"
"$mote" lod "$scratch/stray.xyz" -o "$scratch/stray" -q
sets=("$scratch/additive" "$scratch/gaussian-brotli" "$scratch/stray")
if [[ -e $data/las/autzen_trim.las ]]; then
    "$mote" lod "$data/las/autzen_trim.las" -o "$scratch/autzen-poisson" -q --sampling poisson
    sets+=("$scratch/autzen-poisson")
else
    echo "the folder of real data is not there: only synthetic scans"
fi
node tests/browser/run.mjs --mote "$mote" --out "$2/browser" "${sets[@]}"
node tests/browser/firefox.mjs --mote "$mote" --out "$2/browser"
