#!/usr/bin/env bash
# A processor without AVX2 gets a message and no SIGILL, from the command and from the library: run on one that qemu
# emulates, and read in the disassembly.
#   cpu.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
build=$(realpath "$2")
[[ $(uname -m) == x86_64 ]] || { echo "skipped: only for x86-64"; exit 77; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-cpu-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# ---- files for any processor hold no AVX: neither its registers nor its instructions, which begin with a v
objects=$build/CMakeFiles
count=0
for source in $(sed -n '/^set(for_any_processor/,/)$/p' "$sources/CMakeLists.txt" | grep -oE '(src|cli)/[a-z_/]+\.c'); do
    object=$(find "$objects" -path "*/$source.o")
    [[ -f $object ]] || { echo "$source was not compiled"; exit 1; }
    objdump -d --no-show-raw-insn "$object" >code
    if grep -E '%[yz]mm|:\s+v[a-z]|:\s+(pdep|pext|bzhi|shlx|shrx|sarx|rorx|mulx|andn|bextr|blsr|blsi|movbe|lzcnt|tzcnt)' code; then
        echo "$source has instructions that not every processor has"
        exit 1
    fi
    ((count += 1))
done
[[ $count -ge 10 ]] || { echo "only $count files for any processor"; exit 1; }
objdump -d --no-show-raw-insn "$(find "$objects" -path '*/src/order/order_codes.c.o')" >code
grep -qE 'pdep' code || { echo "the search finds no BMI2 where it is"; exit 1; }

command -v qemu-x86_64 >/dev/null || { echo "skipped: qemu-x86_64 is not there (Debian: qemu-user)"; exit 77; }

# ---- a program that calls all that may be called
cat >any.c <<'C'
#include <mote/mote.h>
#include <stdio.h>

static void say(void *user, mote_log_level level, const char *message) {
    (void)user;
    (void)level;
    printf("%s\n", message);
}

int main(void) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = (mote_context *)&params;
    mote_device_info cpu;
    const mote_knn_params knn = mote_knn_defaults();
    const mote_lod_params lod = mote_lod_defaults();
    const mote_gen_params gen = mote_gen_defaults("room");
    const mote_read_params reading = mote_read_defaults();
    const mote_write_params writing = mote_write_defaults();
    const mote_potree_params potree = mote_potree_defaults();
    const mote_copc_params copc = mote_copc_defaults();
    const mote_normals_params normals = mote_normals_defaults();
    const mote_outliers_params outliers = mote_outliers_defaults();
    const mote_planes_params planes = mote_planes_defaults();
    const bool right = knn.k == 10 && lod.grid == 128 && gen.seed == 20240117 && reading.level == -1 &&
                       writing.las_format == -1 && potree.name == NULL && copc.columns == NULL && normals.k == 16 &&
                       outliers.k == 8 && planes.cone_deg == 20 && mote_type_size(MOTE_FLOAT64) == 8;
    params.log = say;
    mote_devices(&cpu, 1);
    const mote_status status = mote_context_create(&params, &ctx);
    printf("%s %d %s %s usable=%d %s\n", mote_version(), right, mote_cpu_lacks() ? mote_cpu_lacks() : "nothing",
           mote_status_name(status), cpu.usable, cpu.reason);
    mote_context_destroy(ctx);
    return 0;
}
C
private=()
read -ra private <<<"$(sed -n 's/^Libs.private: //p' "$build/mote.pc")"
cc -std=c17 -O2 -I"$sources/include" any.c "$build/libmote.a" "${private[@]}" -o any_static
cc -std=c17 -O2 -I"$sources/include" any.c -L"$build" -lmote -Wl,-rpath,"$build" -o any_shared
printf '#include <immintrin.h>\n__attribute__((target("avx2"))) int main(int n, char **v) { (void)v;
    return _mm256_extract_epi32(_mm256_add_epi32(_mm256_set1_epi32(n), _mm256_set1_epi32(-n)), 0); }\n' >avx2.c
cc -O1 avx2.c -o avx2

version=$(cat "$sources/VERSION")
refuse() { # refuse CPU WHAT-IT-LACKS
    local text="this processor has no $2; mote needs one of x86-64-v3 (2013 or later)" code=0
    for program in any_static any_shared; do
        qemu-x86_64 -cpu "$1" ./$program >said
        printf '%s\n%s 1 %s unsupported usable=0 it has no %s\n' "$text" "$version" "$2" "$2" >expected
        diff expected said || { echo "$program on $1"; exit 1; }
    done
    for arguments in "--version" "help" "info nothing.las" "gen city out.las -n 100"; do
        code=0
        # shellcheck disable=SC2086
        qemu-x86_64 -cpu "$1" "$build/mote" $arguments >said 2>&1 || code=$?
        [[ $code == 1 && $(cat said) == "mote: error: $text" ]] || { echo "mote $arguments on $1: $code"; cat said; exit 1; }
    done
    [[ ! -e out.las ]]
}
# The emulated processor must itself refuse AVX2, or all below would show nothing.
ulimit -c 0
if { qemu-x86_64 -cpu Nehalem ./avx2; } 2>/dev/null; then
    echo "skipped: this qemu runs AVX2 on a processor that has none"
    exit 77
fi
refuse Nehalem AVX2
refuse qemu64 AVX2
refuse max,-fma FMA
refuse max,-bmi2 BMI2
refuse max,-xsave "AVX registers in its operating system"
qemu-x86_64 -cpu max ./any_static >said
[[ $(cat said) == "$version 1 nothing ok usable=1 " ]] || { cat said; exit 1; }
qemu-x86_64 -cpu max "$build/mote" gen city out.las -n 100 >said 2>&1 || { cat said; exit 1; }
[[ -s out.las ]]
echo "processors without AVX2 get a message; $count files run on all of them"
