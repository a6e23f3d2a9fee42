#!/usr/bin/env python3
"""Packs the command into a tarball that runs wherever it is unpacked.

    tarball.py BUILD DIST     BUILD: a build folder of CMake with the command and the library; DIST: where it goes

    mote-VERSION-linux-x86_64/
      bin/mote
      lib/mote/           libmote and what it needs; bin/mote looks for them there and nowhere else first
      share/              the page of mote view, manual pages, completion, licences

What is inside needs a glibc of 2018 (2.28) alone: bundle.py says how. A program that is linked today leaves it to glibc to
run what comes before its main, which glibc does since 2.34: the command has nothing of the kind, and is refused here if
it ever has.
"""
import os
import platform
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

import bundle
import glibc_versions
from bundle import ROOT

SHT_INIT_ARRAY = 14
EPOCH = 1577836800  # 2020-01-01, of all files inside, so that the same contents are the same tarball
LIBRARY_FOLDER = "lib/mote"


def link_command(build, folder, libraries):
    """bin/mote, of the command's objects, beside the libraries that lie in a folder. Returns its path, and what it needs
    more: name to path."""
    out = os.path.join(folder, "mote")
    there = {os.path.basename(path) for path in libraries}
    more = {name: path for name, path in bundle.libraries_of(os.path.join(build, "mote")).items() if name not in there}
    own = [path for path in libraries if os.path.basename(path) in (bundle.COMPAT, "libmote.so.0")]
    bundle.run(bundle.compiler(), "-o", out, *bundle.objects_in(os.path.join(build, "mote_command_objects.txt")),
               *bundle.beside([path for path in libraries if path not in own] + list(more.values()), own),
               f"-Wl,-rpath,$ORIGIN/../{LIBRARY_FOLDER}", "-Wl,--disable-new-dtags", f"-Wl,-rpath-link,{folder}", "-lm")
    _, length, _ = glibc_versions.Library(out).sections.get(SHT_INIT_ARRAY, (0, 0, 0))
    if length > struct.calcsize("P"):  # one is the compiler's own, and does nothing
        raise SystemExit("the command has functions that are to run before main, which an older glibc would not call")
    return out, more


def install(build, folder):
    """What "cmake --install" puts beside the command."""
    subprocess.run(["cmake", "--install", build, "--prefix", folder], check=True, stdout=subprocess.DEVNULL)
    for name in ("include", "lib"):
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def pack(folder, path):
    """The tarball, with entries in order and without anything of this machine."""
    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = EPOCH
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry
    names = sorted(os.path.relpath(os.path.join(base, name), os.path.dirname(folder))
                   for base, folders, files in os.walk(folder) for name in folders + files)
    with tarfile.open(path + ".part", "w:xz") as archive:
        for name in [os.path.basename(folder)] + names:
            archive.add(os.path.join(os.path.dirname(folder), name), name, recursive=False, filter=plain)
    os.replace(path + ".part", path)
    return path


def main(arguments):
    if len(arguments) != 2:
        raise SystemExit(__doc__)
    build, target = arguments
    with open(os.path.join(ROOT, "VERSION"), encoding="utf-8") as file:
        name = f"mote-{file.read().strip()}-linux-{platform.machine()}"
    with tempfile.TemporaryDirectory() as scratch:
        made = os.path.join(scratch, "made")
        os.mkdir(made)
        libraries = bundle.link_library(build, made)
        command, more = link_command(build, made, libraries)
        libraries += [shutil.copyfile(path, os.path.join(made, one)) for one, path in more.items()]
        newest = bundle.lower(libraries + [command])
        folder = os.path.join(scratch, name)
        install(build, folder)
        shutil.copy(command, os.path.join(folder, "bin", "mote"))
        os.makedirs(os.path.join(folder, LIBRARY_FOLDER))
        for path in libraries:
            shutil.copyfile(path, os.path.join(folder, LIBRARY_FOLDER, os.path.basename(path)))
        for one, path in bundle.copyrights(libraries).items():
            licence = os.path.join(folder, "share", "doc", "mote", one)
            os.makedirs(os.path.dirname(licence), exist_ok=True)
            shutil.copyfile(path, licence)
        os.makedirs(target, exist_ok=True)
        print(pack(folder, os.path.join(target, name + ".tar.xz")), f"needs glibc {newest[0]}.{newest[1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
