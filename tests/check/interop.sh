#!/usr/bin/env bash
# The .laz and .copc.laz that mote writes, read by laz-perf and copc of npm. $2: the build folder.
set -euo pipefail
command -v node >/dev/null && command -v npm >/dev/null || { echo "skipped: node or npm is not there"; exit 77; }
if [[ ! -e viewer/node_modules/copc || ! -e viewer/node_modules/laz-perf ]]; then
    (cd viewer && npm ci --no-audit --no-fund) ||
        { echo "skipped: npm cannot install the packages laz-perf and copc"; exit 77; }
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-interop-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
node tests/interop/run.mjs --mote "$2/mote" --scratch "$scratch" --data "${MOTE_SHARED_DATA:-../shared/data}"
