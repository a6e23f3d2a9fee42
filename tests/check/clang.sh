#!/usr/bin/env bash
# The command with clang, whose warnings and headers are others than gcc's:
# - under ThreadSanitizer: the golden results with 4 threads, which run every algorithm and format on tiny inputs, and the
#   smallest of the tests in which threads share most. gcc's OpenMP does not tell it where threads wait for each other,
#   LLVM's does. All unit tests: cmake --build build/tsan, then ctest --test-dir build/tsan -LE 'cli|golden|check'
# - without the optional libraries, one by one and all: the command is built, works, and names what it lacks. In the same
#   folder, where only what asks for a library is compiled again. Without all of them the tests that ask for one are
#   built, too; the others are the same as with all, and none may call a function that is only there with a library.
set -euo pipefail
command -v clang >/dev/null || { echo "skipped: clang is not there"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n' >"$scratch/one.c"
if ! clang -fopenmp -fsanitize=thread -o "$scratch/one" "$scratch/one.c" 2>"$scratch/log" || ! "$scratch/one"; then
    echo "skipped: clang has no OpenMP, or no ThreadSanitizer, here (Debian: libomp-dev): $(head -1 "$scratch/log")"
    exit 77
fi
optional=(BROTLI PNG TURBOJPEG PROJ EXPAT SQLITE MICROHTTPD JANSSON) # what most files ask for last
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)

build=build/tsan
configure() { # configure [NAME...]: without these libraries
    local name options=()
    for name in "${optional[@]}"; do
        [[ " $* " == *" $name "* ]] && options+=("-DMOTE_$name=OFF") || options+=("-DMOTE_$name=AUTO")
    done
    cmake --preset tsan "${launcher[@]}" "${options[@]}" >"$scratch/log" || { cat "$scratch/log"; return 1; }
}
# again NAME...: only what asks for one of these, whose answers changed, is compiled again. All answers stand in one
# header, for which everything that asks for any would be compiled again with each library.
again() {
    local asks
    asks=$(grep -rlE "MOTE_HAVE_($(IFS='|'; echo "$*"))" src cli tests)
    ninja -C $build -t deps | awk -v here="$PWD/" '
        NR == FNR { asks[here $1]; next }
        /^[^ ]/ { object = $1; sub(/:$/, "", object); next }
        { sub(/^\.\.\/\.\.\//, here, $1); if ($1 in asks) print object }' <(echo "$asks") - |
        sort -u | (cd $build && xargs -r rm -f)
    touch -d 2000-01-01 $build/have/mote_have.h
}
make_targets() { # make_targets TARGET...
    cmake --build $build -j "$(nproc)" --target "$@" >"$scratch/log" || { tail -40 "$scratch/log"; return 1; }
}
functions() { nm -D --defined-only $build/libmote_whole.so | awk '{ print $3 }' | sort; }

# ---- all of them: ThreadSanitizer
export OMP_NUM_THREADS=4 MOTE_TEST_FEW=1
tests=(order_compact_codes_test lod_limits_test merge_test pool_test live_test)
export TSAN_OPTIONS=ignore_noninstrumented_modules=1
configure
make_targets mote_command live_message_fuzz "${tests[@]}"
tests+=(live_message_fuzz_corpus)
ctest --test-dir $build --output-on-failure --no-tests=error -j "$(nproc)" -R "^(golden|$(IFS='|'; echo "${tests[*]}"))$"

# ---- without
functions >"$scratch/functions"
mote() { $build/mote "$@" >"$scratch/out" 2>&1 </dev/null; }
mote gen city "$scratch/all.las" -n 2000 --force -q
mote convert "$scratch/all.las" -o "$scratch/all.e57" -q
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >"$scratch/scene.obj"
printf '{"asset": {"version": "2.0"}}' >"$scratch/scene.gltf"
printf 'SQLite format 3\0%0100d' 0 >"$scratch/lots.gpkg"

# without NAME WORD COMMAND...: the command fails, says the WORD, and leaves no output
without() {
    local word=$1 code=0
    shift
    rm -rf "$scratch"/made*
    mote "$@" || code=$?
    if ((code != 1 && code != 2 && code != 3)) || ! grep -qi -- "$word" "$scratch/out" || compgen -G "$scratch/made*" >/dev/null; then
        echo "mote $*: exit code $code, and no word of $word:"
        cat "$scratch/out"
        return 1
    fi
}
lacks() { # lacks NAME: what each is for
    case $1 in
    JANSSON) without jansson lod "$scratch/all.las" -o "$scratch/made" && without jansson photon "$scratch/scene.gltf" -o "$scratch/made.ppm" && without jansson run '["a.las", "made.las"]' ;;
    BROTLI) without 'brotli\|jansson' lod "$scratch/all.las" -o "$scratch/made" --encoding brotli ;;
    PNG) without libpng render "$scratch/all.las" -o "$scratch/made.png" ;;
    TURBOJPEG) ;; # what it draws faster is drawn by libpng, textures are told of in tests of scenes
    PROJ) without PROJ convert "$scratch/all.las" -o "$scratch/made.las" --to-crs EPSG:32632 ;;
    EXPAT) without expat convert "$scratch/all.e57" -o "$scratch/made.las" ;;
    SQLITE) without 'SQLite\|jansson' measure "$scratch/all.las" --area "$scratch/lots.gpkg" ;;
    MICROHTTPD) without libmicrohttpd view "$scratch/all.las" --port 0 --for 1 --no-open ;;
    esac
}
works() {
    mote convert "$scratch/all.las" -o "$scratch/copy.laz" --force && mote convert "$scratch/copy.laz" -o "$scratch/back.las" --force &&
        cmp "$scratch/all.las" "$scratch/back.las" || { cat "$scratch/out"; return 1; }
}
before=()
for name in "${optional[@]}"; do
    configure "$name"
    again "$name" "${before[@]}"
    make_targets mote_command
    before=("$name")
    works
    lacks "$name"
    echo "without $name: built, and says so"
done
configure "${optional[@]}"
again "${optional[@]}"
asks="MOTE_HAVE_($(IFS='|'; echo "${optional[*]}"))"
asks+="|#include .*($(grep -rlE "$asks" src tests --include='*.h' | sed 's,.*/,/,' | paste -sd'|'))\""
mapfile -t tests < <(grep -lE "$asks" tests/unit/*.c tests/fuzz/*.c | sed -E 's,.*/,,; s/_(test|fuzz).*/_\1/' | sort -u)
make_targets mote_command "${tests[@]}"
works
for name in "${optional[@]}"; do lacks "$name"; done
functions | comm -23 "$scratch/functions" - >"$scratch/gone"
if grep -nwFf "$scratch/gone" $(grep -rLE "$asks" tests/unit tests/cli tests/fuzz tests/support tests/reference --include='*.[ch]'); then
    echo "these functions are not there without the optional libraries: ask mote_have.h"
    exit 1
fi
ctest --test-dir $build --output-on-failure --no-tests=error -j "$(nproc)" -R '^(potree_test|scene_read_test)$'
echo "without any of them: all is built, and the command says what it lacks"
