#!/usr/bin/env bash
# The packages that "make deb" left in dist/: lintian has nothing to say, and they work in a clean system without a
# compiler. Skipped where there are none, for making them takes minutes.
#   deb.sh SOURCES BUILD [FOLDER]
set -euo pipefail
sources=$(realpath "$1")
version=$(cat "$sources/VERSION")
folder=${3:-$sources/dist}
packages=("$folder"/{libmote0,libmote-dev,mote,python3-mote}_"$version"_*.deb)
for package in "${packages[@]}"; do
    [[ -s $package ]] || { echo "skipped: there is no $(basename "$package" | cut -d_ -f1) $version in $folder (make deb)"; exit 77; }
done
cuda=$folder/mote-cuda_${version}_amd64.deb
if [[ -s $cuda ]]; then packages+=("$cuda"); else echo "mote-cuda is not tried: it is not there (make deb, where nvcc is)"; fi
fail() { echo "$*"; exit 1; }
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning "${packages[@]}" || fail "lintian has something to say"
else
    echo "lintian is not there: the packages are not looked at"
fi
command -v mmdebstrap >/dev/null || { echo "skipped: mmdebstrap is not there"; exit 77; }
[[ $(id -u) == 0 ]] || { echo "skipped: a clean system is made by root"; exit 77; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-clean-XXXXXX")
# While a clean system is made, /proc and more of this one are mounted in it: nothing is removed through a mount, and
# where one is left, for something was killed, the folder stays and is named.
cleanup() {
    if grep -q " $scratch/" /proc/mounts; then
        echo "something is still mounted in $scratch: it stays"
    else
        rm -rf --one-file-system "$scratch"
    fi
}
trap cleanup EXIT
chmod 755 "$scratch"
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
mmdebstrap --variant=apt --quiet --include=python3-numpy "$suite" "$scratch/root" >"$scratch/log" 2>&1 || {
    echo "skipped: no clean $suite can be made here: $(tail -1 "$scratch/log")"
    exit 77
}
mkdir "$scratch/root/packages"
cp "${packages[@]}" "$scratch/root/packages"
inside() { chroot "$scratch/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 sh -ec "$1"; }
cp /etc/resolv.conf "$scratch/root/etc/resolv.conf" 2>/dev/null || true
inside 'apt-get update && apt-get install -y --no-install-recommends /packages/libmote0_*.deb /packages/mote_*.deb /packages/python3-mote_*.deb' \
    >"$scratch/log" 2>&1 || { tail -20 "$scratch/log"; fail "they do not install"; }
[[ $(inside 'command -v cc || true') == "" ]] || fail "the system is not clean"
works() {
    inside 'cd /tmp && rm -f a.* b.laz && mote gen city a.las -n 20k -q && mote lod a.las -o a.copc.laz -q &&
            mote run "[\"a.las\", {\"type\": \"outliers\"}, \"b.laz\"]" -q && mote info b.laz | grep points'
    [[ $(inside 'python3 -c "import mote; print(len(mote.read(\"/tmp/a.las\")), mote.knn(mote.gen(\"torus\", 100), k=3).index.shape)"') == \
        "20000 (100, 3)" ]] || fail "the package for Python says something else"
}
works
if [[ -s $cuda ]]; then
    # It takes the places of mote and libmote0, and python3-mote finds its library.
    inside 'apt-get install -y --no-install-recommends /packages/mote-cuda_*.deb' >"$scratch/log" 2>&1 ||
        { tail -20 "$scratch/log"; fail "mote-cuda does not install"; }
    inside 'dpkg -s python3-mote | grep -q "^Status: install ok installed"' || fail "python3-mote went away with libmote0"
    for package in mote libmote0; do
        inside "dpkg -s $package" 2>/dev/null | grep -q '^Status: install ok installed' && fail "$package stays beside mote-cuda"
    done
    works
    inside 'dpkg -r python3-mote mote-cuda' >/dev/null || fail "they do not go away"
else
    inside 'dpkg -r python3-mote mote libmote0' >/dev/null || fail "they do not go away"
fi
echo "the packages work in a clean $suite"
