#!/usr/bin/env bash
# Everything that needs a GPU, in one go: the parity tests, golden results, and small parity tests under
# compute-sanitizer.
#   gpu.sh BUILD_DIR [PATTERN]
# PATTERN: only runs whose name matches, for example "memcheck" or "^order". Output goes to BUILD_DIR/gpu/NAME.log.
# Exit code: 0 if all passed, 77 if no GPU answers. Seconds that a run may take: MOTE_GPU_TIMEOUT (300).
set -uo pipefail
build=$(realpath "${1:?BUILD_DIR}")
pattern=${2:-.}
most=${MOTE_GPU_TIMEOUT:-300}
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
logs=$build/gpu
PATH=$PATH:/usr/local/cuda/bin
mkdir -p "$logs"
watched=(lod_filter_parity lod_poisson_parity lod_sample_parity lod_sorted_parity lod_tree_parity
    order_parity order_runs_parity potree_parity laz_parity cuda_primitives knn_sample_parity normals_parity
    shuffle_parity planes_parity)
# many comparisons: eight processes at once make an eighth each
shared=(lod_parity knn_parity knn_shifted_parity knn_ellipsoid_parity)
tools=(memcheck racecheck initcheck)
passed=0 failed=0 skipped=0

if ! "$build/mote" info --devices | grep -q '^cuda.*, [0-9.]* GB'; then
    echo "skipped: no GPU answers"
    "$build/mote" info --devices
    exit 77
fi

# run NAME COMMAND…: one line
run() {
    local name=$1 from=${EPOCHREALTIME//[.,]/} code result tenths
    shift
    [[ $name =~ $pattern ]] || return 0
    timeout --kill-after=10 "$most" "$@" >"$logs/$name.log" 2>&1 </dev/null
    code=$?
    case $code in
    0) result=PASS && ((passed += 1)) ;;
    77) result=SKIP && ((skipped += 1)) ;;
    124 | 137) result="FAIL (no end after $most s)" && ((failed += 1)) ;;
    *) result="FAIL ($code)" && ((failed += 1)) ;;
    esac
    tenths=$(((${EPOCHREALTIME//[.,]/} - from) / 100000))
    printf '%-40s %4d.%d s  %s\n' "$name" $((tenths / 10)) $((tenths % 10)) "$result"
    [[ $result == FAIL* ]] && grep -E 'ERROR|FAILED|error|Error|expected' "$logs/$name.log" | head -n 12 | sed 's/^/    /'
    return 0
}

# share TOOL PROGRAM
share() {
    local i code=0 processes=()
    for i in 1 2 3 4 5 6 7 8; do
        OMP_NUM_THREADS=1 MOTE_PARITY_SHARE=$i/8 compute-sanitizer --tool "$1" --kernel-name-exclude kns=DeviceRadix \
            --error-exitcode 1 "$2" &
        processes+=($!)
    done
    for i in "${processes[@]}"; do wait "$i" || code=$?; done
    return "$code"
}
export -f share

export OMP_WAIT_POLICY=passive
for program in "$build"/tests/*_gpu; do
    run "$(basename "$program")" "$program"
done
MOTE_GOLDEN_DEVICE=cuda run golden tests/golden/golden.sh "$build/mote"
if command -v compute-sanitizer >/dev/null; then
    for tool in "${tools[@]}"; do
        for test in "${watched[@]}"; do
            MOTE_PARITY_SMALL=1 run "$tool-$test" compute-sanitizer --tool "$tool" --error-exitcode 1 \
                "$build/tests/${test}_test_gpu"
        done
        for test in "${shared[@]}"; do
            MOTE_PARITY_SMALL=1 run "$tool-$test" bash -c 'share "$0" "$1"' "$tool" "$build/tests/${test}_test_gpu"
        done
    done
else
    echo "compute-sanitizer is not there: kernels are not watched"
    ((failed += 1))
fi
echo "gpu: $passed passed, $failed failed, $skipped skipped; logs in $logs"
((failed == 0 && passed > 0))
