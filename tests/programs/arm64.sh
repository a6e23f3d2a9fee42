#!/usr/bin/env bash
# The command for AArch64, compiled on this machine and run under qemu-user: the golden results, which must be those of
# x86-64, and some unit tests. It takes a quarter of an hour and more, so it is asked for: MOTE_ARM64 names a folder, in
# which the libraries of Debian for arm64 and the build stay for the next time.
#   MOTE_ARM64=FOLDER arm64.sh SOURCES
# Debian: gcc-aarch64-linux-gnu qemu-user-static mmdebstrap
set -euo pipefail
sources=$(realpath "$1")
[[ ${MOTE_ARM64:-} ]] || { echo "skipped: it takes a quarter of an hour; MOTE_ARM64=FOLDER asks for it"; exit 77; }
for program in aarch64-linux-gnu-gcc qemu-aarch64-static cmake ninja; do
    command -v $program >/dev/null || { echo "skipped: $program is not there"; exit 77; }
done
mkdir -p "$MOTE_ARM64"
folder=$(realpath "$MOTE_ARM64")
root=$folder/root
build=$folder/build
if [[ ! -e $root/usr/lib/aarch64-linux-gnu/libc.so ]]; then
    command -v mmdebstrap >/dev/null || { echo "skipped: mmdebstrap is not there"; exit 77; }
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    libraries=libc6-dev,libgomp1,libgcc-12-dev,libcmocka-dev,libjansson-dev,libbrotli-dev,libpng-dev,libturbojpeg0-dev
    libraries+=,libexpat1-dev,libsqlite3-dev,libmicrohttpd-dev,libproj-dev,proj-data
    mmdebstrap --quiet --architectures=arm64 --variant=extract --include=$libraries "$suite" "$root" >"$folder/log" 2>&1 || {
        echo "skipped: the libraries for arm64 are not to be had: $(tail -1 "$folder/log")"
        exit 77
    }
fi
fail() { echo "$*"; exit 1; }
tests=(order_test where_test knn_test lod_test normals_test)
cmake --preset test -S "$sources" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$sources/cmake/aarch64.cmake" \
    -DMOTE_ARM64_ROOT="$root" >"$folder/log" 2>&1 || { tail -20 "$folder/log"; fail "it cannot be configured"; }
cmake --build "$build" -j "$(nproc)" --target mote_command "${tests[@]}" >"$folder/log" 2>&1 ||
    { grep -aE "error|FAILED" "$folder/log" | head -20; fail "it cannot be built"; }
# As a command of this machine.
cat >"$folder/mote" <<END
#!/bin/sh
PROJ_DATA=$root/usr/share/proj exec qemu-aarch64-static -L "$root" "$build/mote" "\$@"
END
chmod +x "$folder/mote"
"$folder/mote" --version | grep -q '^mote' || fail "it does not start"
export OMP_WAIT_POLICY=passive
MOTE_GOLDEN_THREADS=2 "$sources/tests/golden/golden.sh" "$folder/mote" || fail "the results are others than on x86-64"
cd "$sources"
for test in "${tests[@]}"; do
    MOTE_TEST_FEW=1 qemu-aarch64-static -L "$root" "$build/tests/$test" >"$folder/log" 2>&1 ||
        { grep -aE "FAILED|failed|Error" "$folder/log" | head; fail "$test fails"; }
done
echo "golden results and ${#tests[@]} unit tests under qemu-user: $("$folder/mote" --version)"
