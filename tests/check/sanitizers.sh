#!/usr/bin/env bash
# The tests again under AddressSanitizer and UndefinedBehaviorSanitizer, and with them the kernels on the emulated GPU, the
# corpora of the fuzzers and scripts about what is broken, which make check runs nowhere else.
set -euo pipefail
[[ -x build/asan-ubsan/mote ]] || { echo "build/asan-ubsan is not built: make check builds it"; exit 1; }
# LeakSanitizer takes a thread's variables that begin 16 bytes into a page for those of an old C library, which have a
# header, and dies of what it reads there ("Tracer caught signal 11"): one run of laz_broken_test in two. Behind red
# zones of 256 bytes nothing begins there.
export ASAN_OPTIONS=detect_leaks=1:redzone=256 UBSAN_OPTIONS=print_stacktrace=1 MOTE_TEST_FEW=1
export LSAN_OPTIONS=suppressions=$PWD/tests/check/leaks.txt:print_suppressions=0
tests/run.py build/asan-ubsan --output-on-failure -j "$(nproc)"
