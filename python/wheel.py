#!/usr/bin/env python3
"""Packs the package and libmote into a wheel.

    wheel.py BUILD DIST     BUILD: a build folder of CMake with the shared library; DIST: where the wheel goes

What is inside needs glibc alone. The library is linked anew of the build's objects, and finds what it needs beside
itself: OpenMP and the optional libraries, as they are on this machine. (Debian's archives of these cannot become parts
of a shared library.) Functions of glibc are bound to versions that glibc 2.28 has, where there are such:
glibc_versions.py, glibc_compat.c.

PROJ and SQLite stay outside: Debian's need the glibc of today, and PROJ has forty libraries behind it. So the sources
that call them are compiled anew, as in a build without: reference systems are told and assigned, not transformed, and
GeoPackages not read.

The tag of the wheel is what its files need, read from their symbol versions; never less.
"""
import base64
import glob
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import glibc_versions

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
OF_GLIBC = ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"]
OF_COMPILER = ["libstdc++.so.6", "libgcc_s.so.1"]  # of the kernels of a GPU; numpy needs them as well, PEP 600 allows it
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
WANTED = (2, 28)  # of 2018
OUTSIDE = ("libproj.so", "libsqlite3.so")
CALLERS = {"PROJ": "src/io/crs/crs_proj_*.c", "SQLITE": "src/io/geojson/geopackage_read.c"}
COPYRIGHT = ["libgomp1", "libturbojpeg0", "libjansson4", "libbrotli1", "libpng16-16", "zlib1g", "libexpat1"]
EPOCH = (2020, 1, 1, 0, 0, 0)  # of all files inside, so that the same contents are the same wheel


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()


def compiler():
    return os.environ.get("CC", "cc")


def find(name):
    """Where the compiler finds a file; the name itself if nowhere."""
    return run(compiler(), f"-print-file-name={name}").strip()


def libraries_of(build):
    """The shared libraries that libmote needs, except those of glibc, and what these need: name to path."""
    known = set(OF_GLIBC) | set(OF_COMPILER) | {LOADERS.get(platform.machine())}
    found, waiting = {}, glibc_versions.Library(os.path.join(build, "libmote.so")).needed_files()
    while waiting:
        name = waiting.pop(0)
        if name in known or name in found or name.startswith(OUTSIDE):
            continue
        found[name] = find(name)
        if not os.path.isabs(found[name]):
            raise SystemExit(f"wheel: {name} is not there")
        waiting += glibc_versions.Library(found[name]).needed_files()
    return found


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
    with open(os.path.join(build, "mote_objects.txt"), encoding="utf-8") as file:
        objects = [line for line in file.read().splitlines() if line]
    for source in sorted(path for pattern in CALLERS.values() for path in glob.glob(os.path.join(ROOT, pattern))):
        objects = [path for path in objects if not path.endswith(os.path.relpath(source, ROOT) + ".o")]
        objects.append(os.path.join(folder, os.path.basename(source) + ".o"))
        run(compiler(), "-std=c17", "-O2", "-fPIC", "-fvisibility=hidden", "-I" + have,
            "-I" + os.path.join(ROOT, "src"), "-I" + os.path.join(ROOT, "include"), "-c", source, "-o", objects[-1])
    return objects


def link(build, folder):
    """libmote.so.0 of the build's objects, and what lies beside it, in a folder. Returns the files."""
    out = os.path.join(folder, "libmote.so.0")
    beside = libraries_of(build)
    objects = without_outside(build, folder)
    command = [compiler(), "-shared", "-o", out, "-Wl,-soname,libmote.so.0", "-Wl,-z,defs", *objects,
               "-Wl,--no-as-needed", *beside.values(), f"-Wl,--version-script={os.path.join(build, 'mote.map')}",
               "-Wl,-rpath,$ORIGIN", "-Wl,-z,noexecstack", "-s"]
    with open(os.path.join(build, "mote.pc"), encoding="utf-8") as file:
        private = re.search(r"^Libs.private: *(.*)$", file.read(), re.M).group(1).split()
    if "-lstdc++" in private:
        command += ["-Wl,--as-needed", *map(find, OF_COMPILER), "-Wl,--no-as-needed"]
    if "-lcudart_static" in private:
        command += [word for word in private if word.startswith("-L")] + ["-lcudart_static", "-lrt"]
    if platform.machine() == "x86_64":
        compat = os.path.join(folder, "compat.o")
        source = os.path.join(HERE, "glibc_compat.c")
        run(compiler(), "-O2", "-fPIC", "-c", source, "-o", compat)
        with open(source, encoding="utf-8") as file:
            wrapped = re.findall(r"^int __wrap_(\w+)\(.*;$", file.read(), re.M)
        command += [compat, *[f"-Wl,--wrap={name}" for name in wrapped]]
        # Before glibc 2.34 threads, dlopen and shm_open were libraries of their own. Today these are empty, and always
        # there.
        command += [find("libpthread.so.0"), find("libdl.so.2"), find("librt.so.1")]
    run(*command, "-lm")
    files = [out]
    files += [shutil.copyfile(path, os.path.join(folder, name)) for name, path in beside.items()]
    of_glibc = [path for path in map(find, OF_GLIBC) if os.path.isabs(path)]
    for path in files:
        try:
            glibc_versions.lower(path, WANTED, of_glibc)
        except glibc_versions.Failure as failure:
            print(f"wheel: {failure}; the wheel needs a newer glibc for it", file=sys.stderr)
    return files


def platform_tag(files):
    """manylinux by PEP 600: the newest glibc that any of the files needs."""
    inside = {os.path.basename(path) for path in files}
    allowed = inside | set(OF_GLIBC) | set(OF_COMPILER) | {LOADERS.get(platform.machine())}
    for path in files:
        others = set(glibc_versions.Library(path).needed_files()) - allowed
        if others:
            raise SystemExit(f"wheel: {os.path.basename(path)} needs {', '.join(sorted(others))}, which other machines "
                             f"may not have")
    major, minor = max([glibc_versions.newest_need(path) for path in files] + [WANTED])
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def pack(libraries, folder):
    """The wheel itself: a zip file with the package, its facts and a list of its files."""
    with open(os.path.join(ROOT, "VERSION"), encoding="utf-8") as file:
        version = file.read().strip()
    tag = f"py3-none-{platform_tag(libraries)}"
    name = os.path.join(folder, f"mote-{version}-{tag}.whl")
    facts = f"mote-{version}.dist-info"
    files = {}
    for source in sorted(os.listdir(os.path.join(HERE, "mote"))):
        if source.endswith((".py", ".pyi")) or source == "py.typed":
            with open(os.path.join(HERE, "mote", source), "rb") as file:
                files[f"mote/{source}"] = file.read()
    for path in libraries:
        with open(path, "rb") as file:
            files[f"mote/{os.path.basename(path)}"] = file.read()
    licenses = {"LICENSE": os.path.join(ROOT, "LICENSE")}
    licenses.update({f"licenses/{name}": f"/usr/share/doc/{name}/copyright" for name in COPYRIGHT})
    for target, path in licenses.items():
        if os.path.exists(path):
            with open(path, "rb") as file:
                files[f"{facts}/{target}"] = file.read()
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
        guide = file.read()
    files[f"{facts}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: mote\nVersion: {version}\nSummary: A point-cloud engine\n"
        f"Requires-Python: >=3.9\nRequires-Dist: numpy>=1.19\nDescription-Content-Type: text/markdown\n\n"
        f"{guide}").encode()
    files[f"{facts}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: mote\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[f"{facts}/RECORD"] = (record + f"{facts}/RECORD,,\n").encode()
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(name + ".part", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    os.replace(name + ".part", name)
    return name


def main(arguments):
    if len(arguments) != 2:
        raise SystemExit(__doc__)
    build, folder = arguments
    with tempfile.TemporaryDirectory() as scratch:
        print(pack(link(build, scratch), folder))


if __name__ == "__main__":
    main(sys.argv[1:])
