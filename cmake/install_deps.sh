#!/usr/bin/env bash
# Installs what mote's build and tests need and what is missing: packages by apt-get, the page's by npm.
# Without apt-get, or without the right to use it, says what is missing and goes on: the build names what it lacks.
set -euo pipefail
cd "$(dirname "$0")/.."

# command or file that shows that it is there, and the package that brings it
needs=(
    "cc build-essential"
    "g++ build-essential"
    "cmake cmake"
    "ninja ninja-build"
    "git git"
    "clang clang"
    "/usr/lib/llvm-*/lib/libomp.so libomp-dev"
    "pkg-config pkg-config"
    "wasm-ld lld"
    "clang-format clang-format"
    "clang-tidy clang-tidy"
    "chromium chromium"
    "/usr/include/jansson.h libjansson-dev"
    "/usr/include/brotli/encode.h libbrotli-dev"
    "/usr/include/png.h libpng-dev"
    "/usr/include/zlib.h zlib1g-dev"
    "/usr/include/turbojpeg.h libturbojpeg0-dev"
    "/usr/include/proj.h libproj-dev"
    "cs2cs proj-bin"
    "/usr/include/microhttpd.h libmicrohttpd-dev"
    "/usr/include/expat.h libexpat1-dev"
    "/usr/include/sqlite3.h libsqlite3-dev"
    "/usr/include/cmocka.h libcmocka-dev"
    "qemu-x86_64 qemu-user"
    "/usr/lib/python3/dist-packages/numpy python3-numpy"
    "/usr/lib/python3/dist-packages/pytest python3-pytest"
    "/usr/lib/python3/dist-packages/dask python3-dask"
    "/usr/lib/python3/dist-packages/distributed python3-distributed"
    "/usr/lib/python3/dist-packages/sphinx python3-sphinx"
    "/usr/lib/python3/dist-packages/myst_parser python3-myst-parser"
    "/usr/lib/python3/dist-packages/breathe python3-breathe"
    "/usr/lib/python3/dist-packages/furo furo"
    "doxygen doxygen"
    "/usr/lib/python3/dist-packages/nbclient python3-nbclient"
    "/usr/lib/python3/dist-packages/ipykernel python3-ipykernel"
    "abidiff abigail-tools"
    "node nodejs"
    "npm npm"
)

missing=()
for need in "${needs[@]}"; do
    read -r sign package <<<"$need"
    if [[ $sign == /* ]]; then
        compgen -G "$sign" >/dev/null || missing+=("$package")
    elif ! command -v "$sign" >/dev/null; then
        missing+=("$package")
    fi
done

if ((${#missing[@]} > 0)); then
    mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
    as_root=()
    [[ $(id -u) == 0 ]] || as_root=(sudo)
    if command -v apt-get >/dev/null && { [[ $(id -u) == 0 ]] || command -v sudo >/dev/null; }; then
        echo "deps: installing ${missing[*]}"
        "${as_root[@]}" apt-get update -q
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
    else
        echo "deps: missing, and no apt-get or no right to use it: ${missing[*]}" >&2
    fi
fi

# What makes the page's tests faster, where there is a package of it: without it, all are run.
shell=chromium-headless-shell
if [[ $(id -u) == 0 && ! -e /usr/lib/chromium/$shell ]] && apt-cache show $shell >/dev/null 2>&1; then
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $shell || echo "deps: without $shell"
fi

if [[ -e viewer/package.json ]] && command -v npm >/dev/null; then
    # npm writes this file at the end of an installation: newer than the lock means nothing is to do.
    if [[ ! viewer/node_modules/.package-lock.json -nt viewer/package-lock.json ]]; then
        (cd viewer && npm ci --no-audit --no-fund)
    fi
fi
