#!/usr/bin/env bash
# Each public header, and each header of src/math that C and CUDA share, compiles alone as C17 and as C++17, and where
# nvcc is all of them as CUDA; and README's example, as C17 and C++17. A run of nvcc takes a second, for headers of its
# own above all: those that say the same to it and to a C++ compiler are handed to it in one file.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cuda() { nvcc -std=c++17 -Iinclude -Isrc -arch=compute_75 -c -o "$scratch/one.o" "$1"; }
command -v nvcc >/dev/null && nvcc=1 || nvcc=
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Werror)
count=0
shopt -s nullglob
for header in include/mote/*.h src/math/*.h src/*/*_math.h src/*/*/*_math.h; do
    # The type is for headers of macros alone: C forbids a source without a declaration.
    printf '#include "%s"\n#include "%s"\ntypedef int header_was_read;\n' "$PWD/$header" "$PWD/$header" >"$scratch/one.c"
    cp "$scratch/one.c" "$scratch/one.cpp"
    cc -std=c17 "${warnings[@]}" -Iinclude -Isrc -fsyntax-only "$scratch/one.c"
    c++ -std=c++17 "${warnings[@]}" -Iinclude -Isrc -fsyntax-only "$scratch/one.cpp"
    cat "$scratch/one.c" >>"$scratch/all.cu"
    if [[ $nvcc ]] && grep -q -e __CUDA -e __NVCC "$header"; then
        cp "$scratch/one.c" "$scratch/one.cu"
        cuda "$scratch/one.cu"
    fi
    ((count += 1))
done
[[ ! $nvcc ]] || cuda "$scratch/all.cu"
{
    printf '#include <stdio.h>\n#include <mote/mote.h>\nint main(void) {\n'
    sed -n '/^```c$/,/^```$/p' README.md | grep -v -e '^```' -e '^#include'
    echo 'return 0; }'
} >"$scratch/example.c"
grep -q mote_lod_build "$scratch/example.c"
cc -std=c17 "${warnings[@]}" -Iinclude -fsyntax-only "$scratch/example.c"
c++ -x c++ -std=c++17 "${warnings[@]}" -Iinclude -fsyntax-only "$scratch/example.c"
[[ $nvcc ]] && with=", and together as CUDA" || with=" (nvcc is not there)"
echo "$count headers compile alone as C and C++$with; README's example too"
