#!/usr/bin/env python3
"""Prints the .c files of src/ and cli/ that changed since a commit, or include what did, as the build's ninja knows.

  changed_sources.py BUILD COMMIT
"""
import os
import subprocess
import sys


def lines_of(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout.splitlines()


def main(build, commit):
    changed = {os.path.abspath(f) for f in lines_of("git", "diff", "--name-only", commit)}
    changed |= {os.path.abspath(f) for f in lines_of("git", "ls-files", "--others", "--exclude-standard")}
    if os.path.abspath(".clang-tidy") in changed:
        print("\n".join(lines_of("git", "ls-files", "src/*.c", "cli/*.c")))
        return
    # A line "OBJECT: #deps …", then a line for each file that was read, the source first.
    source, stale = None, set()
    for line in lines_of("ninja", "-C", build, "-t", "deps"):
        if not line.startswith(" "):
            source = None
            continue
        path = os.path.normpath(os.path.join(build, line.strip()))
        source = source or path
        if os.path.abspath(path) in changed:
            stale.add(os.path.relpath(source))
    print("\n".join(sorted(f for f in stale if f.startswith(("src/", "cli/")) and f.endswith(".c"))))


main(*sys.argv[1:])
