#!/usr/bin/env bash
# The tests again under AddressSanitizer and UndefinedBehaviorSanitizer, and with them the kernels on the emulated GPU and
# the corpora of the fuzzers, which run nowhere else. Scripts of the command line run without (make check).
set -euo pipefail
[[ -x build/asan-ubsan/mote ]] || { echo "build/asan-ubsan is not built: make check builds it"; exit 1; }
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 MOTE_TEST_FEW=1
export LSAN_OPTIONS=suppressions=$PWD/tests/check/leaks.txt:print_suppressions=0
tests/run.py build/asan-ubsan --output-on-failure -j "$(nproc)"
