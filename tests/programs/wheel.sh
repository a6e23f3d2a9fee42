#!/usr/bin/env bash
# Makes a wheel of this build and looks into it: what its files need, by readelf, against what its tag says; then tries
# it, installed into a folder, without the library of the build. With MOTE_CHROOT=FOLDER also in the system that lies
# there, one of an older glibc, without compiler and mote, as root:
#   mmdebstrap --variant=apt --include=python3-numpy,python3-pip,python3-pytest bullseye FOLDER
#   wheel.sh SOURCES BUILD
set -euo pipefail
sources=$(realpath "$1")
build=$(realpath "$2")
python=
for candidate in "${MOTE_PYTHON:-python3}" /usr/bin/python3; do
    command -v "$candidate" >/dev/null || continue
    if "$candidate" -c 'import numpy, pytest' 2>/dev/null; then python=$candidate && break; fi
done
[[ $python ]] || { echo "skipped: no python3 has numpy and pytest (Debian: python3-numpy python3-pytest)"; exit 77; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-wheel-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
fail() { echo "$*"; exit 1; }
export PYTHONDONTWRITEBYTECODE=1

"$python" "$sources/python/wheel.py" "$build" "$scratch/dist" >"$scratch/log"
"$python" "$sources/python/wheel.py" "$build" "$scratch/again" >>"$scratch/log"
wheel=$(echo "$scratch"/dist/*.whl)
cmp "$wheel" "$scratch"/again/*.whl || fail "the same build gives another wheel"
"$python" -m zipfile -e "$wheel" "$scratch/site"

# ---- the tag: the newest version that readelf finds in any file, and no library that is not inside
tag=$(basename "$wheel" .whl | sed -E 's/.*-py3-none-manylinux_([0-9]+)_([0-9]+)_.*/\1.\2/')
newest=$(readelf -VW "$scratch"/site/mote/*.so* | grep -oE 'Name: GLIBC_[0-9.]+' | sed 's/.*GLIBC_//' | sort -Vu | tail -1)
[[ $(printf '%s\n' "$newest" "$tag" | sort -V | tail -1) == "$tag" ]] || fail "the tag says $tag, a file needs $newest"
while read -r library; do
    [[ -e $scratch/site/mote/$library ]] && continue
    [[ $library =~ ^(lib(c|m|pthread|dl|rt|stdc\+\+|gcc_s)\.so|ld-linux) ]] || fail "$library is not inside"
done < <(readelf -dW "$scratch"/site/mote/*.so* | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | sort -u)
# PEP 600 has a version of these for each of glibc, too: 2.28 came with GCC 8.
readelf -VW "$scratch"/site/mote/*.so* | sed -nE "s/.*Name: ((GLIBCXX|CXXABI|GCC)_[0-9.]+).*/\1/p" | sort -Vu >"$scratch/of_compiler"
while IFS=_ read -r name version; do
    case $name in GLIBCXX) most=3.4.25 ;; CXXABI) most=1.3.11 ;; *) most=8.0.0 ;; esac
    [[ $(printf '%s\n' "$version" $most | sort -V | tail -1) == "$most" ]] || fail "${name}_$version is newer than GCC 8"
done <"$scratch/of_compiler"
[[ $(uname -m) != x86_64 || $tag == 2.28 ]] || fail "the tag is $tag: a library has come in that needs a newer glibc than 2.28"
nm -D --defined-only "$scratch/site/mote/libmote.so.0" | awk '{ print $NF }' | grep -v '^mote_' &&
    fail "these names of the library are none of its own"
echo "$(basename "$wheel"): needs glibc $newest"

# ---- installed, as pip does it; LD_DEBUG would tell of another libmote
unset MOTE_LIBRARY
export MOTE_INSTALLED=1 PYTHONPATH=$scratch/site MOTE_COMMAND=$build/mote OMP_WAIT_POLICY=passive
cd "$scratch"
"$python" -c '
import mote, os
from mote import _library
assert os.path.dirname(_library.path) == os.path.dirname(mote.__file__), _library.path
mote.gen("torus", 1000)
maps = open("/proc/self/maps").read()
assert "/site/mote/libgomp.so.1" in maps and "/lib/x86_64-linux-gnu/libgomp" not in maps'
"$python" -m pytest -q -p no:cacheprovider "$sources/python/tests/test_commands.py" -k "lod or knn or photon or convert"

# ---- in a system that is older, by its pip: all tests that need no command
if [[ ${MOTE_CHROOT:-} ]]; then
    rm -rf "$MOTE_CHROOT/tmp/mote" && mkdir -p "$MOTE_CHROOT/tmp/mote"
    cp -r "$wheel" "$sources/python/tests" "$sources/python/examples" "$MOTE_CHROOT/tmp/mote/"
    mountpoint -q "$MOTE_CHROOT/proc" || mount --bind /proc "$MOTE_CHROOT/proc"
    env -u PYTHONPATH -u MOTE_COMMAND chroot "$MOTE_CHROOT" sh -c '
        set -e
        cd /tmp/mote && ldd --version | head -1
        if command -v cc mote; then echo "these should not be there"; exit 1; fi
        pip3 install --quiet --no-index --no-deps --force-reinstall *.whl
        python3 -m pytest -q -p no:cacheprovider tests' || code=$?
    umount "$MOTE_CHROOT/proc"
    exit "${code:-0}"
fi
