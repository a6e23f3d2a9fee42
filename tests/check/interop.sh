#!/usr/bin/env bash
# The .laz and .copc.laz that mote writes, read by laz-perf and copc of npm. $2: the build folder.
set -euo pipefail
command -v node >/dev/null || { echo "skipped: node is not there"; exit 77; }
for package in laz-perf copc; do
    [[ -e viewer/node_modules/$package ]] || { echo "skipped: $package of npm is not there: make deps installs it"; exit 77; }
done
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-interop-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
node tests/interop/run.mjs --mote "$2/mote" --scratch "$scratch" --data "${MOTE_SHARED_DATA:-../shared/data}"
