#!/usr/bin/env bash
# ThreadSanitizer over the golden results with 4 threads, which run every algorithm and format on tiny inputs, and over
# the smallest of the tests in which threads share most.
# gcc's OpenMP does not tell it where threads wait for each other, LLVM's does. All unit tests:
#   cmake --preset tsan && cmake --build build/tsan && ctest --test-dir build/tsan -LE 'cli|golden|check'
set -euo pipefail
command -v clang >/dev/null || { echo "skipped: clang is not there"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n' >"$scratch/one.c"
if ! clang -fopenmp -fsanitize=thread -o "$scratch/one" "$scratch/one.c" 2>"$scratch/log" || ! "$scratch/one"; then
    echo "skipped: clang has no OpenMP, or no ThreadSanitizer, here (Debian: libomp-dev): $(head -1 "$scratch/log")"
    exit 77
fi
tests=(order_compact_codes_test lod_limits_test merge_test pool_test)
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
cmake --preset tsan "${launcher[@]}" >/dev/null
cmake --build build/tsan -j "$(nproc)" --target mote_command "${tests[@]}" >/dev/null
export OMP_NUM_THREADS=4 MOTE_TEST_FEW=1
ctest --test-dir build/tsan --output-on-failure --no-tests=error -j "$(nproc)" -R "^(golden|$(IFS='|'; echo "${tests[*]}"))$"
