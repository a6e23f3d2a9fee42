#!/usr/bin/env python3
"""Every constant, function and source file that a page names in `code` is in the tree.

Pages say where a limit is changed and which file is an outline; without this a renamed constant leaves them false. A
constant may be named without its prefix (`GRID` for MOTE_KNN_GRID), a file without its folders. History pages speak of
what is gone, and are left out.
"""
import pathlib
import re
import subprocess
import sys

PAGES = re.compile(r"^(README|ARCHITECTURE|CONTRIBUTING)\.md$|^docs/(?!history/|decisions/|speed).*\.md$")
NAME = re.compile(r"`(?:([A-Z][A-Z0-9_]{3,})|((?:mote|lod|knn|order|planes|parts|render|photon)_[a-z0-9_]*[a-z0-9])"
                  r"|([a-z0-9_/]+\.(?:cuh?|[ch])))`")


def main():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True,
                            check=True).stdout.decode().split("\0")
    files = [name for name in listed if name and pathlib.Path(name).is_file()]
    words, suffixes = set(), set()
    for name in files:
        if name.endswith((".md", ".svg", ".png", ".jsonl", ".csv")) or name.startswith("tests/fuzz/corpus"):
            continue
        for word in re.findall(r"\w+", pathlib.Path(name).read_text(errors="ignore")):
            words.add(word)
    for word in words:
        if word.isupper():
            parts = word.split("_")
            suffixes.update("_".join(parts[i:]) for i in range(len(parts)))
    ends = {"mote_have.h"}  # which the build makes
    for name in files:
        parts = name.split("/")
        ends.update("/".join(parts[i:]) for i in range(len(parts)))
    false = checked = 0
    for name in filter(PAGES.match, files):
        for number, line in enumerate(pathlib.Path(name).read_text().splitlines(), 1):
            for constant, function, file in NAME.findall(line):
                checked += 1
                if constant and (constant in suffixes or constant.removeprefix("MOTE_") in suffixes):
                    continue  # MOTE_PNG is made by CMake, of PNG
                if (function and function in words) or (file and file in ends):
                    continue
                false += 1
                print(f"{name}:{number}: {constant or function or file} is not in the tree")
    print(f"{checked} names of pages are in the tree" if false == 0 else f"{false} of {checked} names are not in the tree")
    return 1 if false > 0 else 0


sys.exit(main())
