#!/usr/bin/env bash
# Installs to a prefix, moves it, and builds README's example against it with cc, pkg-config and CMake, and as a part of
# another project; each with the shared and the static library, as C and as C++; and runs all of them on a small file.
#   install.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
build=$(realpath "$2")
for tool in cc c++ cmake; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not there"; exit 77; }
done
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-install-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() { echo "$*"; exit 1; }
warnings=(-Wall -Wextra -Werror)

# ---- install, and move: nothing may remember where it was
cmake --install "$build" --prefix "$scratch/first" >install.log || { cat install.log; exit 1; }
mv first prefix
prefix=$scratch/prefix
version=$(cat "$sources/VERSION")
lib=$(dirname "$(find "$prefix" -name libmote.a)")
[[ $("$prefix/bin/mote" --version) == "mote $version" ]] || fail "the command says another version"
[[ $(readlink "$lib/libmote.so") == libmote.so.0 && $(readlink "$lib/libmote.so.0") == "libmote.so.$version" ]] ||
    fail "links of libmote.so"
readelf -d "$lib/libmote.so" | grep 'SONAME.*\[libmote\.so\.0\]' >soname || fail "the SONAME is not libmote.so.0"
cmp -s "$sources/LICENSE" "$(find "$prefix" -name LICENSE)" || fail "no LICENSE is installed"
if grep -rlI -e "$build" -e "$scratch/first" -e "$sources" "$prefix"; then fail "these remember where they were built"; fi

# ---- manual pages and completion, of every command
if [[ -n $(find "$prefix" -name mote.1) ]]; then
    for name in $("$prefix/bin/mote" help --names); do
        [[ -s $prefix/share/man/man1/mote-$name.1 ]] || fail "no manual page of $name is installed"
    done
    for file in bash-completion/completions/mote zsh/site-functions/_mote fish/vendor_completions.d/mote.fish; do
        [[ -s $prefix/share/$file ]] || fail "$file is not installed"
    done
else
    fail "no manual page is installed"
fi

# ---- README's example
{
    printf '#include <stdio.h>\n#include <mote/mote.h>\nint main(void) {\n'
    sed -n '/^```c$/,/^```$/p' "$sources/README.md" | grep -v -e '^```' -e '^#include'
    echo 'return 0; }'
} >scan.c
grep -q 'mote_potree_write(ctx, lod, "scan.mote"' scan.c || fail "README's example is another"
cp scan.c scan.cpp
"$prefix/bin/mote" gen city scan.las -n 2000 --quiet
potree=1
"$prefix/bin/mote" lod scan.las expected.mote --quiet 2>lod.log || potree=0 # built without jansson

runs=0
run() { # run PROGRAM shared|static: it must write the folder, and need libmote.so.0 if it is shared
    local program=$1 needs
    rm -rf scan.mote
    LD_LIBRARY_PATH=$lib "$program" >run.log 2>&1 || { cat run.log; fail "$program"; }
    needs=$(readelf -d "$program" | grep -c 'NEEDED.*\[libmote\.so\.0\]' || true)
    [[ $needs == $([[ $2 == shared ]] && echo 1 || echo 0) ]] || fail "$program: $2, needs libmote.so.0: $needs"
    if ((potree)); then
        cmp scan.mote/octree.bin expected.mote/octree.bin || fail "$program wrote other bytes"
    else
        grep -q jansson run.log || fail "$program: $(cat run.log)"
    fi
    ((runs += 1))
}

# Compilers, for both languages.
compile() { # compile PROGRAM ARGUMENTS…: PROGRAM_c and PROGRAM_cpp
    local program=$1
    shift
    cc -std=c17 "${warnings[@]}" scan.c "$@" -o "${program}_c"
    c++ -std=c++17 "${warnings[@]}" scan.cpp "$@" -o "${program}_cpp"
}

# ---- the compiler alone
read -ra private <<<"$(sed -n 's/^Libs.private: //p' "$lib/pkgconfig/mote.pc")"
compile cc_shared -I"$prefix/include" -L"$lib" -lmote
compile cc_static -I"$prefix/include" "$lib/libmote.a" "${private[@]}"
for kind in shared static; do
    run ./cc_${kind}_c $kind
    run ./cc_${kind}_cpp $kind
done

# ---- pkg-config
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$lib/pkgconfig
    [[ $(pkg-config --modversion mote) == "$version" ]] || fail "pkg-config says another version"
    read -ra shared <<<"$(pkg-config --cflags --libs mote)"
    read -ra static <<<"$(pkg-config --static --cflags --libs mote)"
    compile pkg_shared "${shared[@]}"
    compile pkg_static "${static[@]/#-lmote/-l:libmote.a}"
    for kind in shared static; do
        run ./pkg_${kind}_c $kind
        run ./pkg_${kind}_cpp $kind
    done
else
    echo "pkg-config is not there: mote.pc is not tried"
fi

# ---- CMake: a project of one language or of both, that finds the package or has mote as a part
project() { # project FOLDER LANGUAGE SOURCE HOW: programs that link mote::mote, mote::mote_shared, mote::mote_static
    mkdir -p "$1"
    cp scan.c scan.cpp "$1"
    cat >"$1/CMakeLists.txt" <<C
cmake_minimum_required(VERSION 3.21)
project(scanner LANGUAGES $2)
$4
add_executable(scan_any $3)
target_link_libraries(scan_any PRIVATE mote::mote)
foreach(kind shared static)
  add_executable(scan_\${kind} $3)
  target_link_libraries(scan_\${kind} PRIVATE mote::mote_\${kind})
endforeach()
C
}
configure() { # configure FOLDER ARGUMENTS…
    local folder=$1
    shift
    cmake -S "$folder" -B "$folder/build" "$@" >cmake.log 2>&1 || { cat cmake.log; fail "cmake $folder"; }
}
make_project() {
    cmake --build "$1/build" -j "$(nproc)" >cmake.log 2>&1 || { tail -30 cmake.log; fail "build of $1"; }
    run "$1/build/scan_any" shared
    run "$1/build/scan_shared" shared
    run "$1/build/scan_static" static
}
find_line='find_package(mote 0.1 CONFIG REQUIRED COMPONENTS shared static)'
project found_c C scan.c "$find_line"
project found_cpp CXX scan.cpp "$find_line"
for folder in found_c found_cpp; do
    configure $folder -DCMAKE_PREFIX_PATH="$prefix"
    make_project $folder
done
# Where the shared library is not installed, mote::mote is the static one; and what is not there is said.
mkdir only
cp -r prefix only/
rm "only/${lib#"$scratch"/}"/libmote.so* "only/${lib#"$scratch"/}"/cmake/mote/mote_shared*
project only_static C scan.c 'find_package(mote CONFIG REQUIRED)'
sed -i '/^foreach/,$d' only_static/CMakeLists.txt
configure only_static -DCMAKE_PREFIX_PATH="$scratch/only/prefix"
cmake --build only_static/build >cmake.log 2>&1 || { cat cmake.log; fail "static library alone"; }
run only_static/build/scan_any static
project refused C scan.c 'find_package(mote CONFIG REQUIRED COMPONENTS shared)'
if cmake -S refused -B refused/build -DCMAKE_PREFIX_PATH="$scratch/only/prefix" >cmake.log 2>&1; then
    fail "a shared library was found where there is none"
fi
project refused_version C scan.c 'find_package(mote 1 CONFIG REQUIRED)'
if cmake -S refused_version -B refused_version/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1; then
    fail "version $version passed for 1"
fi

if [[ ${MOTE_TEST_FEW:-} ]]; then
    echo "README's example runs in $runs programs, without add_subdirectory"
    exit 0
fi

# A part of a project with targets, functions and options of its own, which must stay as they are; the library is used
# beside the folder that adds it, too. The objects are those of the build, which they must equal.
project part C scan.c 'enable_testing()
set(CMAKE_C_STANDARD 11)
add_library(shared STATIC own.c)
add_library(tests STATIC own.c)
add_custom_target(format)
add_custom_target(viewer)
add_subdirectory(parts)
if(TARGET mote_command OR DEFINED CMAKE_C_VISIBILITY_PRESET OR NOT CMAKE_C_STANDARD EQUAL 11)
  message(FATAL_ERROR "mote sets what is its parent'\''s")
endif()
get_directory_property(options COMPILE_OPTIONS)
get_directory_property(links LINK_OPTIONS)
if(options OR links)
  message(FATAL_ERROR "mote adds options to its parent: ${options} ${links}")
endif()'
mkdir part/parts
ln -s "$sources" part/parts/mote
echo 'add_subdirectory(mote)' >part/parts/CMakeLists.txt
echo 'int cuda_select(void); int cuda_select(void) { return 1; }' >part/own.c
type=$(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$build/CMakeCache.txt")
"$sources/tests/programs/reuse_object.bash" --table "$build/compile_commands.json" >objects
configure part -DCMAKE_BUILD_TYPE="$type" -DMOTE_CUDA=OFF \
    -DCMAKE_C_COMPILER_LAUNCHER="$sources/tests/programs/reuse_object.bash;$scratch/objects"
make_project part
[[ $(ctest --test-dir part/build -N | grep -c 'Test *#') == 0 ]] || fail "mote adds tests to its parent"
cmake --install part/build --prefix "$scratch/nothing" >install.log || { cat install.log; fail "install of the parent"; }
[[ -z $(find nothing -name '*mote*' 2>/dev/null) ]] || fail "mote installs itself from within another project"

echo "README's example runs in $runs programs"
