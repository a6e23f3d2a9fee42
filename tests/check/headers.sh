#!/usr/bin/env bash
# Each public header, and each header of src/math that C and CUDA share, compiles alone: as C17, as C++17, and as
# CUDA where nvcc is; and README's example, as C17 and C++17.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Werror)
count=0
shopt -s nullglob
for header in include/mote/*.h src/math/*.h src/*/*_math.h; do
    printf '#include "%s"\n#include "%s"\n' "$PWD/$header" "$PWD/$header" >"$scratch/one.c"
    cp "$scratch/one.c" "$scratch/one.cpp"
    cp "$scratch/one.c" "$scratch/one.cu"
    cc -std=c17 "${warnings[@]}" -Iinclude -Isrc -fsyntax-only "$scratch/one.c"
    c++ -std=c++17 "${warnings[@]}" -Iinclude -Isrc -fsyntax-only "$scratch/one.cpp"
    if command -v nvcc >/dev/null; then
        nvcc -std=c++17 -Iinclude -Isrc -arch=compute_75 -c -o "$scratch/one.o" "$scratch/one.cu"
    fi
    ((count += 1))
done
{
    printf '#include <stdio.h>\n#include <mote/mote.h>\nint main(void) {\n'
    sed -n '/^```c$/,/^```$/p' README.md | grep -v -e '^```' -e '^#include'
    echo 'return 0; }'
} >"$scratch/example.c"
grep -q mote_lod_build "$scratch/example.c"
cc -std=c17 "${warnings[@]}" -Iinclude -fsyntax-only "$scratch/example.c"
c++ -x c++ -std=c++17 "${warnings[@]}" -Iinclude -fsyntax-only "$scratch/example.c"
command -v nvcc >/dev/null && with="C, C++ and CUDA" || with="C and C++ (nvcc is not there)"
echo "$count headers compile alone as $with, README's example too"
