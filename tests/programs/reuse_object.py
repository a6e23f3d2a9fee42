#!/usr/bin/env python3
"""A compiler launcher: takes an object of the library from a build that has it, where both would compile it alike.

  reuse_object.py COMPILE_COMMANDS_JSON COMPILER ARGUMENT...

As a part of another project the library must be compiled as it is alone, so other flags are an error. What the build
does not have is compiled.
"""
import json
import os
import shlex
import shutil
import sys

OWN_OBJECTS = "mote_objects.dir"  # of the library, without what depends on there being a CUDA compiler
WITH_VALUE = ("-o", "-MF", "-MT", "-c")


def flags_of(words):
    """What decides about the object: not where things are, nor how warnings and dependencies are told."""
    flags, i = [], 1
    while i < len(words):
        if words[i] in WITH_VALUE:
            i += 1
        elif not words[i].startswith(("-I", "-isystem", "-W", "-MD")):
            flags.append(words[i])
        i += 1
    return sorted(flags)


def main():
    commands, words = sys.argv[1], sys.argv[2:]
    if "-c" in words:
        source = os.path.realpath(words[words.index("-c") + 1])
        for entry in json.load(open(commands)):
            if os.path.realpath(entry["file"]) != source or OWN_OBJECTS not in entry["command"]:
                continue
            there = shlex.split(entry["command"])
            there = there[1:] if there[0].endswith("ccache") else there
            if flags_of(there) != flags_of(words):
                differing = sorted(set(flags_of(there)) ^ set(flags_of(words)))
                sys.exit(f"{source} is compiled with other flags than alone: {' '.join(differing)}")
            shutil.copy(os.path.join(entry["directory"], there[there.index("-o") + 1]), words[words.index("-o") + 1])
            if "-MF" in words:
                open(words[words.index("-MF") + 1], "w").close()
            return
    os.execvp(words[0], words)


main()
