#!/usr/bin/env bash
# The whole test run again, under AddressSanitizer and UndefinedBehaviorSanitizer.
set -euo pipefail
[[ -x build/asan-ubsan/mote ]] || { echo "build/asan-ubsan is not built: make check builds it"; exit 1; }
export MOTE_GOLDEN_THREADS="7 1" # the third is run without sanitizers
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
ctest --test-dir build/asan-ubsan --output-on-failure -j "$(nproc)"
