#!/usr/bin/env bash
# Do the tests notice? Changes one operator, constant or statement of the CPU code at a time, N of them picked by SEED,
# builds, runs the tests of make test until one fails, and lists the changes that no test noticed. By hand, not in CI.
#   tests/mutants.sh N SEED [--jobs J] [--only REGEX] [--near] [--list]
#   --only   changes whose "FILE:LINE: BEFORE → AFTER" matches
#   --near   only the tests that belong to the changed file: quick; what lives may be noticed by others
#   --list   prints the changes and tries none
# Works on a copy of the tree in build/mutants. Changes proven to do nothing stand in tests/mutants_equivalent.txt.
# Exit code: 0 where at most 3 of 100 lived, otherwise 1.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 tests/mutants.py "$@"
