#!/usr/bin/env bash
# The tests of the web page: units in node, then the page in a headless browser.
set -euo pipefail
[[ -e viewer/package.json ]] || { echo "skipped: there is no viewer/package.json"; exit 77; }
command -v npm >/dev/null || { echo "skipped: npm is not there"; exit 77; }
command -v chromium >/dev/null || echo "chromium is not there: the browser tests will say so"
export MOTE_BINARY=$2/mote
make --no-print-directory viewer
cd viewer && npm test
