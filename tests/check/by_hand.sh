#!/usr/bin/env bash
# The page in a headless browser: what a person does by hand, step by step. $2: the build folder.
set -euo pipefail
[[ -e tests/browser/by_hand.mjs && -e viewer/package.json ]] || { echo "skipped: there is no viewer here"; exit 77; }
command -v node >/dev/null || { echo "skipped: node is not there"; exit 77; }
command -v chromium >/dev/null || { echo "skipped: chromium is not there"; exit 77; }
flock "$2" make --no-print-directory viewer # another check may make it, too
node tests/browser/by_hand.mjs --mote "$2/mote" --out "$2/browser"
