#!/usr/bin/env bash
# Makes the tarball of this build and looks into it: what its files need of glibc, by readelf, and that they need no library
# that is not inside. Then the command is tried where it is unpacked; and, where root can make one by mmdebstrap, or
# MOTE_CHROOT names one, in the oldest system of Debian that is to be had, which is clean: its results are those of the
# build, byte for byte.
#   tarball.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
build=$(realpath "$2")
[[ -x $build/mote && -e $build/libmote.so ]] || { echo "skipped: this build has no command and library"; exit 77; }
[[ $(uname -m) == x86_64 ]] || { echo "skipped: only x86-64 is promised an older glibc"; exit 77; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-tarball-XXXXXX")
root=${MOTE_CHROOT:-$scratch/root}
# Nothing is removed through a mount: where one is left, the folder stays and is named.
cleanup() {
    umount "$root/proc" 2>/dev/null || true
    if grep -q " $scratch/" /proc/mounts; then
        echo "something is still mounted in $scratch: it stays"
    else
        rm -rf --one-file-system "$scratch"
    fi
}
trap cleanup EXIT
chmod 755 "$scratch"
fail() { echo "$*"; exit 1; }
export OMP_WAIT_POLICY=passive

PYTHONDONTWRITEBYTECODE=1 python3 "$sources/python/tarball.py" "$build" "$scratch/dist" || fail "it cannot be made"
mkdir "$scratch/mote"
tar -C "$scratch/mote" --strip-components=1 -xf "$scratch"/dist/mote-*.tar.xz
cd "$scratch"
files=(mote/bin/mote mote/lib/mote/*.so*)

# ---- what the files need
newest=$(readelf -VW "${files[@]}" | grep -oE 'Name: GLIBC_[0-9.]+' | sed 's/.*GLIBC_//' | sort -Vu | tail -1)
[[ $(printf '%s\n' "$newest" 2.28 | sort -V | tail -1) == 2.28 ]] || fail "a file needs glibc $newest"
while read -r library; do
    [[ -e mote/lib/mote/$library ]] && continue
    [[ $library =~ ^(lib(c|m|pthread|dl|rt|stdc\+\+|gcc_s)\.so|ld-linux) ]] || fail "$library is not inside"
done < <(readelf -dW "${files[@]}" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | sort -u)
echo "$(basename dist/*.tar.xz): $(stat -c %s dist/*.tar.xz) bytes, needs glibc $newest"

# ---- where it was unpacked: nothing of the system's but glibc is loaded
LD_DEBUG=libs mote/bin/mote --version 2>&1 | grep -oE 'calling init: .*' | grep -vE "$scratch/mote|/(libc|libm|libpthread|libdl|librt|libstdc\+\+|libgcc_s|ld-linux[a-z0-9-]*)[.-]" &&
    fail "these are of this machine"
try='set -e
cd "$1"
"$2" gen city a.las -n 20k -q
"$2" lod a.las -o a.copc.laz -q
"$2" info a.copc.laz >/dev/null
"$2" outliers a.las -o b.laz -q
"$2" convert b.laz b.e57 -q
"$2" normals b.e57 -o b.ply -q
"$2" render b.ply -o b.png -q'
mkdir here there
sh -c "$try" try "$PWD/here" "$build/mote" || fail "the build's own command does not work"
sh -c "$try" try "$PWD/there" "$PWD/mote/bin/mote" || fail "it does not work where it was unpacked"
same() {
    for file in here/*; do
        [[ $file == here/b.e57 ]] || cmp "$file" "$1/$(basename "$file")" || fail "$file is another one $2"
    done
}
same there "where it was unpacked"
if [[ -e mote/share/mote/viewer/index.html ]]; then
    port=$((20000 + RANDOM % 20000))
    mote/bin/mote view here/a.copc.laz --port $port --no-open >view.log 2>&1 &
    view=$!
    for ((i = 0; i < 100; i++)); do
        python3 -c "import urllib.request as u; print(u.urlopen('http://127.0.0.1:$port/').status)" >status 2>/dev/null && break
        sleep 0.1
    done
    kill $view
    [[ $(cat status) == 200 ]] || { cat view.log; fail "mote view serves nothing"; }
fi

# ---- in an older system
if [[ ! ${MOTE_CHROOT:-} ]]; then
    [[ ! ${MOTE_TEST_FEW:-} ]] || { echo "not tried in an older system: that is for make check"; exit 0; }
    command -v mmdebstrap >/dev/null || { echo "not tried in an older system: mmdebstrap is not there"; exit 0; }
    [[ $(id -u) == 0 ]] || { echo "not tried in an older system: root makes one"; exit 0; }
    for suite in buster bullseye; do
        rm -rf --one-file-system "$root"
        mmdebstrap --variant=essential --quiet $suite "$root" >log 2>&1 && break
    done
    [[ -x $root/bin/sh ]] || { echo "not tried in an older system: none can be made here: $(tail -1 log)"; exit 0; }
fi
mkdir -p "$root/mote-try/out"
cp -r mote "$root/mote-try/"
mountpoint -q "$root/proc" || mount --bind /proc "$root/proc" # the loader asks it where a program lies
chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 sh -c "$try" try /mote-try/out /mote-try/mote/bin/mote ||
    fail "it does not work in $root"
same "$root/mote-try/out" "in an older system"
echo "the same bytes with $(chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin ldd --version | head -1)"
rm -rf "$root/mote-try"
