#!/usr/bin/env bash
# The unit tests of the web page, in node.
set -euo pipefail
[[ -e viewer/package.json ]] || { echo "skipped: there is no viewer/package.json"; exit 77; }
command -v npm >/dev/null || { echo "skipped: npm is not there"; exit 77; }
flock "$2" make --no-print-directory viewer # another check may make it, too
cd viewer && npm test
