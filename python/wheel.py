#!/usr/bin/env python3
"""Packs the package and libmote into a wheel.

    wheel.py BUILD DIST     BUILD: a build folder of CMake with the shared library; DIST: where the wheel goes

What is inside needs glibc alone: bundle.py says how.

The tag of the wheel is what its files need, read from their symbol versions; never less.
"""
import base64
import hashlib
import os
import platform
import sys
import tempfile
import zipfile

import bundle
from bundle import HERE, ROOT

EPOCH = (2020, 1, 1, 0, 0, 0)  # of all files inside, so that the same contents are the same wheel


def pack(libraries, newest, folder):
    """The wheel itself: a zip file with the package, its facts and a list of its files. newest: the version of glibc that
    they need, which is the tag, by PEP 600."""
    with open(os.path.join(ROOT, "VERSION"), encoding="utf-8") as file:
        version = file.read().strip()
    tag = f"py3-none-manylinux_{newest[0]}_{newest[1]}_{platform.machine()}"
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
    licenses.update(bundle.copyrights(libraries))
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
        libraries = bundle.link_library(build, scratch)
        print(pack(libraries, bundle.lower(libraries), folder))


if __name__ == "__main__":
    main(sys.argv[1:])
