#!/usr/bin/env bash
# Debian packages of this tree, made in a copy of what git knows, so that the tree stays as it is (a tree without git is
# copied as it is); mote-cuda, too, where there is nvcc.
#   deb.sh FOLDER [FLAG…]     where they go; flags of CMake, -D…
set -euo pipefail
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1"
target=$(realpath "$1")
shift
command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null && command -v dh_python3 >/dev/null || {
    echo "make deb needs: apt-get install dpkg-dev debhelper dh-python"
    exit 1
}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mote-deb-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
copy=$scratch/mote
mkdir "$copy"
# The files of the sources, and when they were made.
list_files() {
    if git -C "$sources" rev-parse HEAD >/dev/null 2>&1; then
        git -C "$sources" ls-files -z --cached --others --exclude-standard -- . ':!viewer/node_modules' |
            (cd "$sources" && xargs -0 -r ls -d 2>/dev/null)
    else
        (cd "$sources" && find . -type f -not -path './build/*' -not -path './dist/*' -not -path './viewer/node_modules/*' \
            -not -path './viewer/dist/*')
    fi
}
made=${SOURCE_DATE_EPOCH:-$(git -C "$sources" log -1 --format=%ct 2>/dev/null || stat -c %Y "$sources/VERSION")}
list_files | tar -C "$sources" -cf - -T - | tar -C "$copy" -xf -
# The page is built by npm, which packages cannot call.
if [[ -d $sources/viewer/dist ]]; then
    cp -r "$sources/viewer/dist" "$copy/viewer/"
    echo usr/share/mote >>"$copy/debian/mote.install" # mote-cuda has what its build installs
else
    echo "without the page of mote view: there is no viewer/dist (make viewer)"
fi
cat >"$copy/debian/changelog" <<END
mote ($(cat "$sources/VERSION")) unstable; urgency=medium

  * CHANGELOG.md has what is new.

 -- $(sed -n 's/^Maintainer: //p' "$copy/debian/control")  $(date -R -d "@$made")
END
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
profiles=
if [[ $nvcc ]]; then
    profiles=pkg.mote.cuda
    export CUDACXX=$nvcc
else
    echo "without mote-cuda: there is no nvcc"
fi
cd "$copy"
export MOTE_CMAKE_FLAGS="$*" DEB_BUILD_PROFILES=$profiles
DEB_BUILD_OPTIONS="noautodbgsym parallel=${JOBS:-$(nproc)}" dpkg-buildpackage -b -us -uc -d >"$scratch/log" 2>&1 || {
    tail -40 "$scratch/log"
    exit 1
}
grep -E "^(dpkg-gensymbols|dpkg-shlibdeps|dh_missing): (warning|error)" "$scratch/log" || true
mv "$scratch"/*.deb "$target/"
ls -l "$target"/*.deb | awk '{print $5, $9}'
