#!/usr/bin/env python3
"""Prints a line "KEY FILE" for each .c file of src/ and cli/ that a build compiles. The key is a checksum of all that
clang-tidy's answer depends on: the file, the headers of ours that it reads, the options of its compiler, .clang-tidy and
the version of clang-tidy. Headers of the system are not in it.

  tidy_keys.py BUILD

Beside them it writes BUILD/tidy/compile_commands.json, in which each file stands once: a few are compiled for tests,
too, and clang-tidy would look at them as often.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def headers_by_object(build):
    """What ninja knows: a line "OBJECT: #deps …", then a line for each file that was read."""
    objects, files = {}, []
    for line in run("ninja", "-C", build, "-t", "deps").splitlines():
        if line.startswith(" "):
            files.append(os.path.abspath(os.path.join(build, line.strip())))
        elif ": #deps" in line:
            files = objects.setdefault(line.split(": #deps")[0], [])
    return objects


def main(build):
    root, build = os.getcwd(), os.path.abspath(build)
    commands = {}
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text()):
        if re.match(r"(src|cli)/.*\.c$", os.path.relpath(entry["file"], root)):
            commands.setdefault(entry["file"], entry)
    pathlib.Path(build, "tidy").mkdir(exist_ok=True)
    pathlib.Path(build, "tidy", "compile_commands.json").write_text(json.dumps(list(commands.values()), indent=0))

    contents = {}

    def checksum(path):
        if path not in contents:
            contents[path] = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
        return contents[path]

    headers = headers_by_object(build)
    of_all = run("clang-tidy", "--version") + checksum(".clang-tidy")
    for path, entry in sorted(commands.items()):
        made = re.search(r" -o (\S+)", entry["command"])[1]
        ours = sorted({file for file in headers.get(made, []) if file.startswith((root + "/", build + "/"))} | {path})
        places = lambda text: text.replace(build, "BUILD").replace(root, "SOURCES")
        options = re.sub(r" -isystem \S+", "", places(entry["command"]))
        key = [of_all, options] + [f"{places(file)} {checksum(file)}" for file in ours]
        print(hashlib.sha256("\n".join(key).encode()).hexdigest()[:20], os.path.relpath(path, root))


main(*sys.argv[1:])
