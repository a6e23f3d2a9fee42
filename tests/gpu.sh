#!/usr/bin/env bash
# Everything that needs a GPU, in one go: the parity tests, golden results, and small parity tests under
# compute-sanitizer.
#   gpu.sh BUILD_DIR [PATTERN]
# PATTERN: only runs whose name matches, for example "memcheck" or "^order". Output goes to BUILD_DIR/gpu/NAME.log.
# Exit code: 0 if all passed, 77 if no GPU answers. Seconds that a run may take: MOTE_GPU_TIMEOUT (300). Runs at once:
# MOTE_GPU_JOBS (as many as there are cores): each is a process that computes on one core, beside the GPU. Comparisons
# that take long are shared out to eight runs, NAME.1 to NAME.8, the longest first.
set -uo pipefail
build=$(realpath "${1:?BUILD_DIR}")
pattern=${2:-.}
max_seconds=${MOTE_GPU_TIMEOUT:-300}
max_jobs=${MOTE_GPU_JOBS:-$(nproc)}
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
logs=$build/gpu
PATH=$PATH:/usr/local/cuda/bin
mkdir -p "$logs"
watched=(lod_filter_parity lod_sample_parity lod_tree_parity potree_parity laz_parity cuda_primitives knn_sample_parity
    shuffle_parity knn_shapes_parity)
# many comparisons: eight runs make an eighth each
shared=(lod_parity lod_poisson_parity lod_sorted_parity order_parity order_runs_parity normals_parity planes_parity
    knn_parity knn_shifted_parity knn_ellipsoid_parity photon_parity render_parity)
# without a tool, comparisons of the full size: the CPU's side takes minutes
long=(knn_shapes_parity planes_parity knn_shifted_parity)
shares=8
tools=(memcheck racecheck initcheck)
results=$logs/results

if ! "$build/mote" info --devices | grep -q '^cuda.*, [0-9.]* GB'; then
    echo "skipped: no GPU answers"
    "$build/mote" info --devices
    exit 77
fi

# run_here NAME COMMAND…: one line, and a word more in $results
run_here() {
    local name=$1 from=${EPOCHREALTIME//[.,]/} code result tenths causes=""
    shift
    timeout --kill-after=10 "$max_seconds" "$@" >"$logs/$name.log" 2>&1 </dev/null
    code=$?
    case $code in
    0) result=PASS ;;
    77) result=SKIP ;;
    124 | 137) result="FAIL (no end after $max_seconds s)" ;;
    *) result="FAIL ($code)" ;;
    esac
    tenths=$(((${EPOCHREALTIME//[.,]/} - from) / 100000))
    if [[ $result == FAIL* ]]; then
        causes=$(grep -E 'ERROR|FAILED|error|Error|expected' "$logs/$name.log" | head -n 12 | sed 's/^/    /')
    fi
    printf '%-40s %4d.%d s  %s\n%s' "$name" $((tenths / 10)) $((tenths % 10)) "$result" "${causes:+$causes$'\n'}"
    echo "${result%% *}" >>"$results"
}

# run NAME COMMAND…: as soon as fewer than $max_jobs runs are under way
run() {
    [[ $1 =~ $pattern ]] || return 0
    while (($(jobs -rp | wc -l) >= max_jobs)); do wait -n; done
    run_here "$@" &
}

# count RESULT
count() { grep -c "^$1\$" "$results"; }

# run_shares NAME COMMAND…
run_shares() {
    local name=$1 i
    shift
    for ((i = 1; i <= shares; i++)); do MOTE_PARITY_SHARE=$i/$shares run "$name.$i" "$@"; done
}


# contains WORD LIST…
contains() {
    local word=$1
    shift
    [[ " $* " == *" $word "* ]]
}
: >"$results"

export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1
for test in "${long[@]}"; do
    run_shares "${test}_test_gpu" "$build/tests/${test}_test_gpu"
done
for program in "$build"/tests/*_gpu; do
    name=$(basename "$program")
    contains "${name%_test_gpu}" "${long[@]}" || run "$name" "$program"
done
MOTE_GOLDEN_DEVICE=cuda run golden tests/golden/golden.sh "$build/mote"
if command -v compute-sanitizer >/dev/null; then
    export MOTE_PARITY_SMALL=1
    for tool in "${tools[@]}"; do
        under=(compute-sanitizer --tool "$tool" --error-exitcode 1)
        # initcheck must see the kernels of CUB's sort, too, which write what others read
        unwatched=(--kernel-name-exclude kns=DeviceRadix)
        [[ $tool == initcheck ]] && unwatched=()
        # of this kernel racecheck keeps gigabytes a second, until there is no memory (128 GB; CUDA 13.0)
        [[ $tool == racecheck ]] && unwatched+=(--kernel-name-exclude kns=draw_list)
        for test in "${shared[@]}"; do
            run_shares "$tool-$test" "${under[@]}" "${unwatched[@]}" "$build/tests/${test}_test_gpu"
        done
        for test in "${watched[@]}"; do run "$tool-$test" "${under[@]}" "$build/tests/${test}_test_gpu"; done
    done
else
    echo "compute-sanitizer is not there: kernels are not watched"
    echo FAIL >>"$results"
fi
wait
echo "gpu: $(count PASS) passed, $(count FAIL) failed, $(count SKIP) skipped; logs in $logs"
(($(count FAIL) == 0 && $(count PASS) > 0))
