#!/usr/bin/env python3
"""Links what a build made so that it runs on any Linux of this processor whose glibc is of 2018 or later (2.28): the
library, for wheels (wheel.py), and the command, for the tarball (tarball.py).

The library is linked anew of the build's objects, and finds what it needs beside itself: OpenMP and the optional
libraries, as they are on this machine. (Debian's archives of these cannot become parts of a shared library.) Functions of
glibc are bound to versions that glibc 2.28 has, where there are such: glibc_versions.py. The few that it has not are in a
small library of our own: glibc_compat.c.

PROJ and SQLite stay outside: Debian's need the glibc of today, and PROJ has forty libraries behind it. So the sources
that call them are compiled anew, as in a build without: reference systems are told and assigned, not transformed, and
GeoPackages not read.
"""
import glob
import os
import platform
import re
import shutil
import subprocess
import sys

import glibc_versions

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
OF_GLIBC = ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"]
OF_COMPILER = "libgcc_s.so.1"  # glibc itself asks for it
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
WANTED = (2, 28)  # of 2018
COMPAT = "libmote-glibc.so"
OUTSIDE = ("libproj.so", "libsqlite3.so")
INSIDE = ("libstdc++.so",)  # of the kernels of a GPU: its archive is part of libmote
CALLERS = {"PROJ": "src/io/crs/crs_proj_*.c", "SQLITE": "src/io/geojson/geopackage_read.c"}
COPYRIGHT = [("libgomp", "libgomp1"), ("libturbojpeg", "libturbojpeg0"), ("libjansson", "libjansson4"),
             ("libbrotlicommon", "libbrotli1"), ("libpng16", "libpng16-16"), ("libz", "zlib1g"),
             ("libexpat", "libexpat1"), ("libmicrohttpd", "libmicrohttpd12"), ("libgnutls", "libgnutls30"),
             ("libnettle", "libnettle8"), ("libhogweed", "libhogweed6"), ("libgmp", "libgmp10"),
             ("libp11-kit", "libp11-kit0"), ("libidn2", "libidn2-0"), ("libunistring", "libunistring2"),
             ("libtasn1", "libtasn1-6"), ("libffi", "libffi8")]


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()


def compiler():
    return os.environ.get("CC", "cc")


def find(name):
    """Where the compiler finds a file; the name itself if nowhere."""
    return run(compiler(), f"-print-file-name={name}").strip()


def of_system():
    """What every machine has."""
    return {*OF_GLIBC, OF_COMPILER, LOADERS.get(platform.machine())}


def libraries_of(path):
    """The shared libraries that a file needs, except those of the system, and what these need: name to path."""
    known = of_system()
    found, waiting = {}, glibc_versions.Library(path).needed_files()
    while waiting:
        name = waiting.pop(0)
        if name in known or name in found or name.startswith(OUTSIDE + INSIDE):
            continue
        found[name] = find(name)
        if not os.path.isabs(found[name]):
            raise SystemExit(f"{name} is not there")
        waiting += glibc_versions.Library(found[name]).needed_files()
    return found


def objects_in(list_file):
    with open(list_file, encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if line]


def private_words(build):
    """What the build's library is linked with."""
    with open(os.path.join(build, "mote.pc"), encoding="utf-8") as file:
        return re.search(r"^Libs.private: *(.*)$", file.read(), re.M).group(1).split()


def without_outside(build, folder):
    """The objects of the build; instead of those that call the libraries that stay outside, new ones without them."""
    have = os.path.join(folder, "have")
    os.mkdir(have)
    with open(os.path.join(build, "have", "mote_have.h"), encoding="utf-8") as file:
        lines = file.read()
    for name in CALLERS:
        lines = lines.replace(f"MOTE_HAVE_{name} 1", f"MOTE_HAVE_{name} 0")
    with open(os.path.join(have, "mote_have.h"), "w", encoding="utf-8") as file:
        file.write(lines)
    objects = objects_in(os.path.join(build, "mote_objects.txt"))
    for source in sorted(path for pattern in CALLERS.values() for path in glob.glob(os.path.join(ROOT, pattern))):
        objects = [path for path in objects if not path.endswith(os.path.relpath(source, ROOT) + ".o")]
        objects.append(os.path.join(folder, os.path.basename(source) + ".o"))
        run(compiler(), "-std=c17", "-O2", "-fPIC", "-fvisibility=hidden", "-I" + have,
            "-I" + os.path.join(ROOT, "src"), "-I" + os.path.join(ROOT, "include"), "-c", source, "-o", objects[-1])
    return objects


def compat(folder):
    """Makes the library of what an older glibc has not, where it is known; its path, or none."""
    if platform.machine() != "x86_64":
        return []
    path = os.path.join(folder, COMPAT)
    run(compiler(), "-O2", "-fPIC", "-shared", "-s", "-o", path, f"-Wl,-soname,{COMPAT}",
        os.path.join(HERE, "glibc_compat.c"))
    return [path]


def beside(paths, own):
    """Arguments of the linker for libraries that lie beside a file. What is our own comes first, so that it is asked
    before glibc is. Before glibc 2.34 threads, dlopen and shm_open were libraries of their own; today these are empty,
    and always there."""
    of_threads = [find(name) for name in ("libpthread.so.0", "libdl.so.2", "librt.so.1")]
    return ["-Wl,--no-as-needed", *own, *paths, *of_threads, "-Wl,-z,noexecstack", "-s"]


def link_library(build, folder):
    """libmote.so.0 of the build's objects, and what lies beside it, in a folder. Returns the files."""
    out = os.path.join(folder, "libmote.so.0")
    needed = libraries_of(os.path.join(build, "libmote.so"))
    own = compat(folder)
    objects = without_outside(build, folder)
    command = [compiler(), "-shared", "-o", out, "-Wl,-soname,libmote.so.0", "-Wl,-z,defs", *objects,
               *beside(needed.values(), own), f"-Wl,--version-script={os.path.join(build, 'mote.map')}",
               "-Wl,-rpath,$ORIGIN"]
    private = private_words(build)
    if "-lstdc++" in private:
        command += [find("libstdc++.a"), "-Wl,--exclude-libs,libstdc++.a",
                    "-Wl,--as-needed", find(OF_COMPILER), "-Wl,--no-as-needed"]
    if "-lcudart_static" in private:
        command += [word for word in private if word.startswith("-L")] + ["-lcudart_static", "-lrt"]
    run(*command, "-lm")
    return own + [out] + [shutil.copyfile(path, os.path.join(folder, name)) for name, path in needed.items()]


def lower(files):
    """Binds functions of glibc to versions of WANTED, in place; says where that cannot be. Returns the newest need."""
    names = set()
    for path in files:
        if os.path.basename(path) == COMPAT:
            names = {name for name in glibc_versions.exported(path) if not name.startswith("mote_")}
    of_glibc = [path for path in map(find, OF_GLIBC) if os.path.isabs(path)]
    for path in files:
        try:
            glibc_versions.lower(path, WANTED, of_glibc, names)
        except glibc_versions.Failure as failure:
            print(f"{failure}; a newer glibc is needed for it", file=sys.stderr)
    inside = {os.path.basename(path) for path in files}
    for path in files:
        others = set(glibc_versions.Library(path).needed_files()) - inside - of_system()
        if others:
            raise SystemExit(f"{os.path.basename(path)} needs {', '.join(sorted(others))}, which other machines may not "
                             f"have")
    return max([glibc_versions.newest_need(path) for path in files] + [WANTED])


def copyrights(files):
    """The licences of the libraries inside, as Debian has them: name in the bundle to path."""
    found = {}
    for path in files:
        name = next((package for stem, package in COPYRIGHT if os.path.basename(path).startswith(stem + ".so")), None)
        if name is not None and os.path.exists(f"/usr/share/doc/{name}/copyright"):
            found[f"licenses/{name}"] = f"/usr/share/doc/{name}/copyright"
    return found
