#!/usr/bin/env bash
# What the libraries show is what the headers declare, both ways; and a program may have functions of every other name.
#   symbols.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
build=$(realpath "$2")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-symbols-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# Functions that the compiler finds declared in the public headers, whatever stands before them.
printf '#include <mote/mote.h>\n' >all.c
cc -std=c17 -I"$sources/include" -E all.c |
    awk '/^# [0-9]+ "/ { ours = index($3, "/include/mote/") > 0; next } ours' |
    sed -E 's/__attribute__ *\(\([^)]*\([^)]*\)\)\)//g' | tr '\n' ' ' |
    awk '{ out = ""; depth = 0
           for (i = 1; i <= length($0); i++) {
               c = substr($0, i, 1)
               if (c == "{") depth++
               if (depth == 0) out = out c
               if (c == "}") depth--
           }
           print out }' |
    tr ';' '\n' | grep -v typedef | sed -nE 's/^[^(]*[ *]([A-Za-z_][A-Za-z0-9_]*) *\(.*/\1/p' | sort -u >declared
[[ $(wc -l <declared) -gt 100 ]] || { echo "only $(wc -l <declared) functions found in the headers"; exit 1; }

same() { # same NAMES WHAT
    if ! diff declared "$1" >difference; then
        echo "$2: < is declared and not shown, > is shown and not declared"
        head -20 difference
        exit 1
    fi
}
nm -D --defined-only "$build/libmote.so" | awk '{ print $NF }' | sed 's/@.*//' | sort -u >shared
same shared libmote.so
nm -g --defined-only "$build/libmote.a" | awk 'NF == 3 { print $NF }' | sort -u >static
same static libmote.a

# What a release had stays: programs that were linked with it look for these names.
sed -nE 's/^ ([a-z_0-9]+)@Base .*/\1/p' "$sources/debian/libmote0.symbols" | sort -u >recorded
if ! diff recorded shared >difference; then
    echo "debian/libmote0.symbols: < is recorded and gone, which breaks programs; > is new, to be recorded with its version"
    head -20 difference
    exit 1
fi

# Every name that our own objects share with each other, as functions of a program. Names of the compiler's and of C++'s
# own are not the program's to define.
nm -g --defined-only "$build/mote_united.o" | awk 'NF == 3 { print $NF }' | sort -u | comm -23 - declared |
    grep -E '^([a-z][A-Za-z0-9_]*|_ZN?[0-9]+[a-z][A-Za-z0-9_]*)$' >internal
[[ $(wc -l <internal) -gt 300 ]] || { echo "only $(wc -l <internal) internal names found"; exit 1; }
{
    printf '#include <mote/mote.h>\nextern int printf(const char *, ...);\n'
    sed 's/.*/int &(void);\nint &(void) { return 1; }/' internal
    printf 'int cuda_select(void)%s\n' "$(grep -qx cuda_select internal && echo ';' || echo ' { return 1; }')"
    printf 'int main(void) {\n    int mine = cuda_select();\n'
    sed 's/.*/    mine += &();/' internal
    cat <<'C'
    mote_context *ctx = 0;
    mote_cloud *cloud = 0;
    mote_lod *lod = 0;
    uint64_t hash = 0;
    if (mote_context_create(0, &ctx) != MOTE_OK || mote_generate(ctx, "torus", 10000, 0, &cloud) != MOTE_OK ||
        mote_lod_build(ctx, cloud, 0, &lod) != MOTE_OK || mote_cloud_hash(ctx, cloud, &hash) != MOTE_OK) {
        return 1;
    }
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    printf("%d %016llx\n", mine - 1, (unsigned long long)hash);
    return 0;
}
C
} >clash.c
private=()
read -ra private <<<"$(sed -n 's/^Libs.private: //p' "$build/mote.pc")"
cc -std=c17 -O0 -fno-builtin -w -I"$sources/include" -c clash.c
# The same with the names as they were before they became local must fail, or the test would show nothing.
if cc clash.o "$build/mote_united.o" "${private[@]}" -o clash 2>clash.log; then
    echo "names of the library's own do not clash even where they are global"
    exit 1
fi
cc clash.o "$build/libmote.a" "${private[@]}" -o clash_static
cc clash.o -L"$build" -lmote -Wl,-rpath,"$build" -o clash_shared
count=$(wc -l <internal)
static=$(./clash_static)
shared=$(./clash_shared)
[[ ${static% *} == "$count" && $static == "$shared" ]] || { echo "of $count: $static, $shared"; exit 1; }
echo "$(wc -l <declared) functions are shown; a program may have $count that are not"
